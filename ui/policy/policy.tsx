/**
 * The hub of the screens about policy, and the head that they share: on a phone a way back to the hub, on a wide screen the rail has the links.
 */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Failure, Skeleton } from "../parts/feedback.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { ScreenTitle } from "../parts/screen_title.tsx";
import { pagesFor, useApp } from "../parts/use_app.ts";
import type { PolicyPage, Route } from "../router.ts";
import type { Reading } from "../store/reading.ts";
import { policyStrings as words } from "../strings/policy.ts";
import { Audit } from "./audit.tsx";
import { Bypasses } from "./bypasses.tsx";
import { Gate } from "./gate.tsx";
import { Profiles } from "./profiles.tsx";
import { Rules } from "./rules.tsx";
import { Schedules } from "./schedules.tsx";
import { Simulator } from "./simulator.tsx";

/** A page under Policy, or the hub. */
export function PolicyScreen({ page }: { readonly page: PolicyPage | undefined }) {
  switch (page) {
    case undefined:
      return <Hub />;
    case "rules":
      return <Rules />;
    case "try":
      return <Simulator />;
    case "bypasses":
      return <Bypasses />;
    case "profiles":
      return <Profiles />;
    case "schedules":
      return <Schedules />;
    case "gate":
      return <Gate />;
    case "audit":
      return <Audit />;
    default:
      return page satisfies never;
  }
}

function Hub() {
  const app = useApp();
  return (
    <div class="screen policy">
      <Link to={{ name: "settings" }} class="way-back phone-only">
        <Icon name="back" /> {words.settings}
      </Link>
      <ScreenTitle title={words.title} note={words.note} />
      <ul class="hub">
        {pagesFor(app).map((page) => (
          <li key={page}>
            <Link to={{ name: "policy", page }} class="card hub-link">
              <Icon name={page} />
              <span>
                <strong>{words.pages[page].title}</strong>
                <span class="hint">{words.pages[page].note}</span>
              </span>
              <Icon name="next" />
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface PolicyHeadProps {
  readonly title: string;
  readonly note?: ComponentChildren;
  /** Where the way back leads; the hub when left out. */
  readonly up?: { readonly to: Route; readonly label: string };
  readonly children?: ComponentChildren;
}

/** Way back, title, and what can be done with the whole screen. */
export function PolicyHead({ title, note, up, children }: PolicyHeadProps) {
  return (
    <>
      <Link to={up?.to ?? { name: "policy" }} class={up ? "way-back" : "way-back phone-only"}>
        <Icon name="back" /> {up?.label ?? words.back}
      </Link>
      <ScreenTitle title={title} note={note}>{children}</ScreenTitle>
    </>
  );
}

interface ListedProps<Value> {
  readonly reading: Reading<Value>;
  readonly children: (value: Value) => ComponentChildren;
}

/** Reads a list when it appears, and shows it, its placeholder, or why it could not be read. */
export function Listed<Value>({ reading, children }: ListedProps<Value>) {
  useEffect(() => void reading.load(), [reading]);
  const value = reading.value.value;
  const error = reading.error.value;
  return (
    <>
      {error !== undefined && <Failure message={error} retry={() => void reading.load()} />}
      {value !== undefined
        ? children(value)
        : error === undefined && <Skeleton label={words.loading} kind="row" rows={4} />}
    </>
  );
}
