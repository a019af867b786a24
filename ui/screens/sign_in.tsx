/**
 * The door. A link brings its token and one tap uses it; without a link a token can be pasted.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Wordmark } from "../parts/icons.tsx";
import { Failure } from "../parts/feedback.tsx";
import { useApp } from "../parts/use_app.ts";
import { strings } from "../strings.ts";

const words = strings.signIn;

/** The screen. */
export function SignIn() {
  const { session } = useApp();
  const isUnreachable = session.state.value === "unreachable";
  const isOffline = isUnreachable && session.isOffline.value;
  return (
    <main class="door" id="main">
      <div class="door-card card">
        <Wordmark />
        <p class="door-tagline">{strings.tagline}</p>
        <h1>{isOffline ? words.offline : isUnreachable ? words.unreachable : words.title}</h1>
        {!isUnreachable && session.hasEnded.value && <p role="status">{words.ended}</p>}
        {isUnreachable ? <Unreachable /> : session.linkToken.value === undefined ? <ByHand /> : <ByLink />}
      </div>
    </main>
  );
}

function Unreachable() {
  const { session } = useApp();
  return (
    <>
      <p role="status">{session.isOffline.value ? words.offlineBody : words.unreachableBody}</p>
      <button type="button" class="button primary large" onClick={() => void session.refresh()}>
        {strings.errors.retry}
      </button>
    </>
  );
}

function ByLink() {
  const { session } = useApp();
  const token = session.linkToken.value ?? "";
  return (
    <>
      <p>{words.withLink}</p>
      <button
        type="button"
        class="button primary large"
        disabled={session.busy.value}
        onClick={() => void session.signIn(token)}
      >
        {session.busy.value ? words.busy : words.useLink}
      </button>
    </>
  );
}

/** Shown where somebody has a passkey: the way in, or why it is none at this address. */
function ByPasskey() {
  const { session, passkeys } = useApp();
  useEffect(() => void passkeys.loadOffer(), []);
  if (!passkeys.areKnown.value) return null;
  if (passkeys.isOffered.value !== true) return <p class="hint">{passkeys.why.value}</p>;
  return (
    <button
      type="button"
      class="button large"
      disabled={session.busy.value}
      onClick={() => void session.signInByPasskey()}
    >
      {strings.passkeys.signIn}
    </button>
  );
}

function ByHand() {
  const { session } = useApp();
  const token = useSignal("");
  const text = token.value.trim();
  return (
    <form
      class="door-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== "") void session.signIn(text);
      }}
    >
      <label class="field">
        <span>{words.token}</span>
        <input
          type="password"
          name="token"
          autocomplete="current-password"
          aria-describedby="token-hint"
          value={token.value}
          onInput={(event) => token.value = event.currentTarget.value}
        />
      </label>
      <p class="hint" id="token-hint">
        {words.manual} <code>{words.command}</code>.
      </p>
      {session.error.value !== undefined && <Failure message={session.error.value} />}
      <button type="submit" class="button primary large" disabled={session.busy.value || text === ""}>
        {session.busy.value ? words.busy : words.submit}
      </button>
      <ByPasskey />
    </form>
  );
}
