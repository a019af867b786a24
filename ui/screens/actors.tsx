/**
 * The supervision tree, live: who is awake, where, with how much in the mailbox, and who went down last and why.
 */
import type { ComponentChildren } from "preact";
import type { ActorView } from "../../edge/api.ts";
import { DeadLetters } from "../parts/dead_letters.tsx";
import { ConfirmButton } from "../parts/confirm_button.tsx";
import { Empty, Failure, Skeleton } from "../parts/feedback.tsx";
import { Link } from "../parts/link.tsx";
import { ScreenTitle } from "../parts/screen_title.tsx";
import { Age } from "../parts/times.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { spanOf } from "../render/time.ts";
import { type ActorGroup, groupActors } from "../store/actors.ts";
import { strings } from "../strings.ts";

const words = strings.actors;

/** The screen. */
export function Actors() {
  const { actors } = useApp();
  const all = [...actors.actors.value.values()];
  const awake = all.filter((actor) => actor.state === "live" || actor.state === "starting").length;
  return (
    <div class="screen actors">
      <ScreenTitle
        title={words.title}
        note={actors.loaded.value ? words.counts(awake, all.length) : undefined}
      />
      {actors.error.value !== undefined && (
        <Failure
          message={actors.error.value}
          retry={() => void actors.load()}
        />
      )}
      {actors.supervisor.value?.away && <Failure message={words.away} />}
      {actors.loaded.value && actors.source.value === "rows" && <p class="hint">{words.rows}</p>}
      {!actors.loaded.value && actors.error.value === undefined && (
        <Skeleton label={words.loading} kind="row" rows={6} />
      )}
      {actors.loaded.value && groupActors(all).map((group) => <Group key={group.name} group={group} />)}
      {actors.loaded.value && <DeadLetters />}
    </div>
  );
}

function Group({ group }: { readonly group: ActorGroup }) {
  const id = `group-${group.name}`;
  return (
    <section class="actor-group" aria-labelledby={id}>
      <h2 id={id}>{words.groups[group.name]}</h2>
      {group.actors.length === 0 && <Empty icon="actors" title={words.none}>{words.empty}</Empty>}
      <ul class="tree">{group.actors.map((actor) => <Actor key={actor.ref} actor={actor} />)}</ul>
    </section>
  );
}

function Actor({ actor }: { readonly actor: ActorView }) {
  const name = actor.title ?? actor.ref;
  return (
    <li class="actor" data-state={actor.state}>
      <div class="actor-name">
        <span class={`dot actor-${actor.state}`} aria-hidden="true" />
        <span>
          <ActorName actor={actor} name={name} />
          {actor.title !== undefined && <code class="actor-ref">{shortRef(actor.ref)}</code>}
        </span>
      </div>
      <span class={`tag actor-tag-${actor.state}`}>{words.states[actor.state]}</span>
      <dl class="actor-facts">
        <Fact name={words.host}>
          {hostOf(actor)}
          {actor.pssMb !== undefined && (
            <span class="faint" title={words.memory}>, {words.mebibytes(actor.pssMb)}</span>
          )}
        </Fact>
        <Fact name={words.mailbox}>
          <Mailbox mailbox={actor.mailbox} />
        </Fact>
        <Fact name={words.restarts}>{actor.restarts}</Fact>
        <Fact name={words.lastDown}>
          <LastDown down={actor.lastDown} />
        </Fact>
      </dl>
      {actor.currentMessage && <Current message={actor.currentMessage} />}
      {actor.parkedReason !== undefined && (
        <p class="actor-note">
          <HostileText text={actor.parkedReason} />
        </p>
      )}
      <ActorActions actor={actor} name={name} />
    </li>
  );
}

/** The message in hand. */
function Current({ message }: { readonly message: NonNullable<ActorView["currentMessage"]> }) {
  return (
    <p class="actor-current">
      {words.current}{" "}
      <code>
        <HostileText text={message.type} line />
      </code>{" "}
      {words.currentFor(spanOf(message.ms))}
    </p>
  );
}

function ActorName({ actor, name }: { readonly actor: ActorView; readonly name: string }) {
  const shown = <HostileText text={name} line />;
  if (actor.kind !== "conversation") return <strong>{shown}</strong>;
  const id = actor.ref.slice("conversation/".length);
  return <Link to={{ name: "chat", id }}>{shown}</Link>;
}

function ActorActions({ actor, name }: { readonly actor: ActorView; readonly name: string }) {
  const app = useApp();
  const isAsked = app.actors.restarting.value.has(actor.ref);
  return (
    <div class="actor-actions">
      {isOwner(app) && (
        <ConfirmButton
          label={isAsked ? words.restarting : words.restart}
          name={words.restartLabel(name)}
          confirm={words.restartConfirm}
          class="button small"
          disabled={isAsked}
          onConfirm={() => void app.actors.restart(actor.ref)}
        />
      )}
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Mailbox({ mailbox }: { readonly mailbox: ActorView["mailbox"] }) {
  const { control, normal, oldestMs } = mailbox;
  if (control + normal === 0) return <span class="faint">{words.mailboxEmpty}</span>;
  return (
    <>
      {normal} {words.normal}
      {control > 0 && <>, {control} {words.control}</>}
      <span class="faint">, {words.oldest(spanOf(oldestMs))}</span>
    </>
  );
}

function LastDown({ down }: { readonly down: ActorView["lastDown"] }) {
  if (down === undefined) return <span class="faint">{words.never}</span>;
  const isFault = down.reason !== "shutdown" && down.reason !== "lost";
  return (
    <span title={down.detail}>
      <span class={isFault ? "fault" : undefined}>{words.down[down.reason]}</span> <Age at={down.at} />
    </span>
  );
}

function hostOf(actor: ActorView): string {
  if (actor.host === undefined) return "–";
  return actor.pid === undefined ? actor.host : `${actor.host} · ${words.pid} ${actor.pid}`;
}

function shortRef(ref: string): string {
  return ref.length > 24 ? `${ref.slice(0, 16)}…${ref.slice(-6)}` : ref;
}
