/**
 * The frame around every screen: tab bar on a phone, rail on a wide screen, and the line that says when what is shown may be old.
 */
import type { ComponentChildren } from "preact";
import type { Route } from "../router.ts";
import { strings } from "../strings.ts";
import { Icon, type IconName, Wordmark } from "./icons.tsx";
import { Link } from "./link.tsx";
import { useApp } from "./use_app.ts";

interface Tab {
  readonly to: Route;
  readonly icon: IconName;
  readonly label: string;
  readonly names: readonly Route["name"][];
}

const tabs: readonly Tab[] = [
  { to: { name: "inbox" }, icon: "inbox", label: strings.nav.inbox, names: ["inbox"] },
  {
    to: { name: "conversations" },
    icon: "chats",
    label: strings.nav.conversations,
    names: ["conversations", "chat", "new_chat"],
  },
  { to: { name: "actors" }, icon: "actors", label: strings.nav.actors, names: ["actors"] },
  { to: { name: "settings" }, icon: "settings", label: strings.nav.settings, names: ["settings"] },
];

/** Navigation and the screen. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const { router } = useApp();
  return (
    <div class="shell" data-screen={router.route.value.name}>
      <a class="skip" href="#main">{strings.skip}</a>
      <header class="rail">
        <Wordmark />
        <nav aria-label={strings.nav.label}>
          {tabs.map((tab) => (
            <TabLink key={tab.label} tab={tab} current={tab.names.includes(router.route.value.name)} />
          ))}
        </nav>
        <ConnectionNote />
      </header>
      <main id="main" tabIndex={-1}>{children}</main>
    </div>
  );
}

function TabLink({ tab, current }: { readonly tab: Tab; readonly current: boolean }) {
  const { inbox } = useApp();
  const count = tab.icon === "inbox" ? inbox.badge.value : 0;
  return (
    <Link to={tab.to} class="tab" current={current}>
      <Icon name={tab.icon} />
      <span>{tab.label}</span>
      {count > 0 && (
        <span class="badge">
          <span aria-hidden="true">{count > 99 ? "99+" : count}</span>
          <span class="visually-hidden">{strings.nav.waiting(count)}</span>
        </span>
      )}
    </Link>
  );
}

/** Says when the stream is down; a quiet dot when all is well. */
function ConnectionNote() {
  const connection = useApp().live.connection.value;
  return (
    <p class="connection" data-state={connection} role="status">
      <span class="dot" aria-hidden="true" />
      <span>{strings.connection[connection]}</span>
      {(connection === "waiting" || connection === "offline") && (
        <span class="connection-note">{strings.connection.stale}</span>
      )}
    </p>
  );
}
