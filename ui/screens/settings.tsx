/**
 * Who one is, on which devices, and how the page looks.
 */
import { useEffect, useRef } from "preact/hooks";
import type { Device, Me } from "../../edge/api.ts";
import { Failure, Skeleton } from "../parts/feedback.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { Passkeys } from "../parts/passkeys.tsx";
import { PushCard } from "../parts/push_card.tsx";
import { ScreenTitle } from "../parts/screen_title.tsx";
import { SignInLink } from "../parts/sign_in_link.tsx";
import { StopCard } from "../parts/frame/stop_everything.tsx";
import { Age } from "../parts/times.tsx";
import { useApp } from "../parts/use_app.ts";
import { clockOf, momentOf } from "../render/time.ts";
import { themes } from "../store/theme.ts";
import { strings } from "../strings.ts";
import { peopleStrings } from "../strings/people.ts";

const words = strings.settings;

/** The screen. */
export function Settings() {
  const { session } = useApp();
  const me = session.me.value;
  return (
    <div class="screen settings">
      <ScreenTitle title={words.title} />
      {session.error.value !== undefined && <Failure message={session.error.value} />}
      {me && <Account me={me} />}
      <PolicyLink />
      {me?.user.role === "owner" && <PeopleLink />}
      <StopCard />
      <PushCard />
      <Appearance />
      <Passkeys />
      <Devices />
      <button
        type="button"
        class="button danger large"
        disabled={session.busy.value}
        onClick={() => void session.signOut()}
      >
        {words.signOut}
      </button>
    </div>
  );
}

function Account({ me }: { readonly me: Me }) {
  const facts: readonly (readonly [string, string | undefined])[] = [
    [words.role, words.roles[me.user.role]],
    [words.device, me.device.name],
    [words.session, momentOf(me.expiresAt)],
    [words.realm, me.realm],
    [words.version, me.version],
  ];
  return (
    <section class="card" aria-labelledby="account">
      <h2 id="account">{me.user.name}</h2>
      <dl class="settings-facts">
        {facts.map(([name, value]) =>
          value !== undefined && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          )
        )}
      </dl>
    </section>
  );
}

function PolicyLink() {
  return (
    <Link to={{ name: "policy" }} class="card hub-link">
      <Icon name="policy" />
      <span>
        <strong>{strings.policy.title}</strong>
        <span class="hint">{strings.policy.note}</span>
      </span>
      <Icon name="next" />
    </Link>
  );
}

function PeopleLink() {
  return (
    <Link to={{ name: "people" }} class="card hub-link">
      <Icon name="profiles" />
      <span>
        <strong>{peopleStrings.title}</strong>
        <span class="hint">{peopleStrings.note}</span>
      </span>
      <Icon name="next" />
    </Link>
  );
}

function Appearance() {
  const { theme } = useApp();
  return (
    <section class="card" aria-labelledby="appearance">
      <h2 id="appearance">{words.theme}</h2>
      <fieldset class="segmented">
        <legend class="visually-hidden">{words.theme}</legend>
        {themes.map((choice) => (
          <label key={choice}>
            <input
              type="radio"
              name="theme"
              value={choice}
              checked={theme.theme.value === choice}
              onChange={() => theme.choose(choice)}
            />
            <span>{words.themes[choice]}</span>
          </label>
        ))}
      </fieldset>
    </section>
  );
}

function Devices() {
  const { session } = useApp();
  useEffect(() => void session.loadDevices(), []);
  const devices = session.devices.value;
  return (
    <section class="card" aria-labelledby="devices">
      <h2 id="devices">{words.devices}</h2>
      {devices === undefined
        ? <Skeleton label={words.devicesLoading} kind="line" rows={2} />
        : <ul class="devices">{devices.map((device) => <DeviceRow key={device.id} device={device} />)}</ul>}
      <LinkMaker />
    </section>
  );
}

function DeviceRow({ device }: { readonly device: Device }) {
  const { session } = useApp();
  return (
    <li>
      <span>
        <strong>{device.name}</strong>{" "}
        {device.current ? <span class="tag">{words.current}</span> : (
          <span class="faint">
            <Age at={device.seenAt} />
          </span>
        )}
      </span>
      {!device.current && (
        <button
          type="button"
          class="button quiet small"
          aria-label={words.revokeLabel(device.name)}
          onClick={() => void session.revoke(device.id)}
        >
          {words.revoke}
        </button>
      )}
    </li>
  );
}

function LinkMaker() {
  const { session } = useApp();
  const isAsked = useRef(false);
  const link = session.link.value;
  const make = () => {
    isAsked.current = true;
    void session.makeLink();
  };
  if (link === undefined) {
    return (
      <button type="button" class="button" onClick={make}>
        {words.link}
      </button>
    );
  }
  return <SignInLink url={link.url} hint={words.linkHint(clockOf(link.expiresAt))} isNew={isAsked.current} />;
}
