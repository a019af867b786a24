/**
 * The runtime's numbers as Prometheus families of this product. Pure. What rows can tell (items, conversations, downs since ever) is on the
 * metrics page already, from the edge. Proven by `watch_test.ts`.
 */
import type { Family, Sample } from "../../lib/metrics.ts";
import type { RuntimeStats, Tally } from "../../runtime/meter.ts";
import type { ActorView } from "../../runtime/tree.ts";

/** The families of one reading. */
export function runtimeFamilies(actors: readonly ActorView[], stats: RuntimeStats): Family[] {
  return [
    {
      name: "callboard_mailbox_messages",
      help: "Messages that wait or are in hand, by the receiver's kind and lane.",
      type: "gauge",
      samples: [
        ...sums(actors, ({ kind, mailbox }) => [{ kind, lane: "control" }, mailbox.control]),
        ...sums(actors, ({ kind, mailbox }) => [{ kind, lane: "normal" }, mailbox.normal]),
      ],
    },
    {
      name: "callboard_actors",
      help: "Actors by kind and state.",
      type: "gauge",
      samples: sums(actors, ({ kind, state }) => [{ kind, state }, 1]),
    },
    {
      name: "callboard_actor_restarts_total",
      help: "Starts after an end that was no sleep, by kind.",
      type: "counter",
      samples: sums(actors, ({ kind, restarts }) => [{ kind }, restarts]),
    },
    counter("callboard_actor_downs_total", "Ends of incarnations since the supervisor's start.", stats.downs),
    counter(
      "callboard_actor_dead_letters_total",
      "Messages given up since the supervisor's start, by the receiver's kind.",
      stats.deadLetters,
    ),
    counter("callboard_commits_total", "Commits of actors since the supervisor's start.", stats.commits),
    {
      name: "callboard_commit_seconds",
      help: "From handing a commit over to its being on disk.",
      type: "histogram",
      samples: stats.commitSeconds,
    },
  ];
}

function counter(name: string, help: string, samples: readonly Tally[]): Family {
  return { name, help, type: "counter", samples };
}

/** One sample for each set of labels, in order of first appearance. */
function sums(
  actors: readonly ActorView[],
  read: (actor: ActorView) => [Record<string, string>, number],
): Sample[] {
  const byLabels = new Map<string, { labels: Record<string, string>; value: number }>();
  for (const actor of actors) {
    const [labels, value] = read(actor);
    const name = Object.values(labels).join("\n");
    const sample = byLabels.get(name);
    if (sample) sample.value += value;
    else byLabels.set(name, { labels, value });
  }
  return [...byLabels.values()];
}
