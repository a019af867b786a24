/**
 * Chooses the screen: the door for who is not signed in, else what the address says.
 */
import { useEffect } from "preact/hooks";
import { ConfirmIdentity } from "../parts/frame/confirm_identity.tsx";
import { Empty } from "../parts/feedback.tsx";
import { Link } from "../parts/link.tsx";
import { Shell } from "../parts/frame/shell.tsx";
import { useApp } from "../parts/use_app.ts";
import { pathOf, type Route } from "../router.ts";
import { strings } from "../strings.ts";
import { People } from "../people/people.tsx";
import { PolicyScreen } from "../policy/policy.tsx";
import { RuleGroup } from "../policy/rule_group.tsx";
import { Actors } from "./actors.tsx";
import { Conversations } from "./conversations.tsx";
import { Inbox } from "./inbox.tsx";
import { InboxItem } from "./inbox_item.tsx";
import { Settings } from "./settings.tsx";
import { SignIn } from "./sign_in.tsx";

/** The page. */
export function Root() {
  const { session, router } = useApp();
  const route = router.route.value;
  const path = pathOf(route);
  // A new screen is announced and read from its top; the first one keeps the browser's own focus.
  useEffect(() => {
    if (document.activeElement !== document.body) {
      document.getElementById("main")?.focus({ preventScroll: true });
    }
    scrollTo(0, 0);
  }, [path]);
  if (session.state.value === "unknown") return null;
  if (session.state.value !== "signed_in") return <SignIn />;
  return (
    <Shell>
      <Screen route={route} />
      <ConfirmIdentity />
    </Shell>
  );
}

function Screen({ route }: { readonly route: Route }) {
  switch (route.name) {
    case "inbox":
      return route.item === undefined ? <Inbox /> : <InboxItem key={route.item} id={route.item} />;
    case "conversations":
      return <Conversations />;
    case "new_chat":
      return <Conversations open="new" />;
    case "chat":
      return <Conversations open={route.id} />;
    case "actors":
      return <Actors />;
    case "settings":
      return <Settings />;
    case "people":
      return <People />;
    case "policy":
      return <PolicyScreen page={route.page} />;
    case "rule_group":
      return <RuleGroup key={route.id} id={route.id} />;
    case "not_found":
      return (
        <Empty icon="inbox" title={strings.notFound.title} isScreen>
          <p>{strings.notFound.body}</p>
          <Link to={{ name: "inbox" }} class="button">{strings.notFound.back}</Link>
        </Empty>
      );
    default:
      return route satisfies never;
  }
}
