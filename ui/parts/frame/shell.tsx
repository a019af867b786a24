/**
 * The frame around every screen: tab bar on a phone, rail on a wide screen, and the line that says when what is shown may be old.
 */
import { type ComponentChildren, Fragment } from "preact";
import type { Route } from "../../router.ts";
import { strings } from "../../strings.ts";
import { Icon, type IconName, Wordmark } from "../icons.tsx";
import { Link } from "../link.tsx";
import { StoppedBanner } from "./stop_everything.tsx";
import { pagesFor, useApp } from "../use_app.ts";

interface Tab {
  /** A phone has room for four; the others are reached from the settings there. */
  readonly wideOnly?: boolean;
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
  {
    to: { name: "policy" },
    icon: "policy",
    label: strings.nav.policy,
    names: ["policy", "rule_group"],
    wideOnly: true,
  },
  { to: { name: "settings" }, icon: "settings", label: strings.nav.settings, names: ["settings", "people"] },
];

/** Navigation and the screen. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const route = useApp().router.route.value;
  return (
    <div class="shell" data-screen={route.name}>
      <a class="skip" href="#main">{strings.skip}</a>
      <header class="rail">
        <Wordmark />
        <nav aria-label={strings.nav.label}>
          {tabs.map((tab) => (
            <Fragment key={tab.label}>
              <TabLink tab={tab} route={route} />
              {tab.icon === "policy" && isUnder(tab, route) && <PolicyLinks route={route} />}
            </Fragment>
          ))}
        </nav>
        <ConnectionNote />
      </header>
      <main id="main" tabIndex={-1}>
        <StoppedBanner />
        {children}
      </main>
    </div>
  );
}

function isUnder(tab: Tab, route: Route): boolean {
  return tab.names.includes(route.name);
}

function TabLink({ tab, route }: { readonly tab: Tab; readonly route: Route }) {
  const { inbox } = useApp();
  const count = tab.icon === "inbox" ? inbox.badge.value : 0;
  return (
    <Link
      to={tab.to}
      class={tab.wideOnly ? "tab wide-only" : "tab"}
      current={isUnder(tab, route)}
    >
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

/** The screens under Policy, in the rail while one of them is open. */
function PolicyLinks({ route }: { readonly route: Route }) {
  const app = useApp();
  return (
    <ul class="subtabs wide-only" aria-label={strings.policy.subnav}>
      {pagesFor(app).map((page) => (
        <li key={page}>
          <Link
            to={{ name: "policy", page }}
            class="subtab"
            current={route.name === "policy" && route.page === page ||
              route.name === "rule_group" && page === "rules"}
          >
            {strings.policy.pages[page].title}
          </Link>
        </li>
      ))}
    </ul>
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
