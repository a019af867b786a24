import assert from "node:assert/strict";
import { Heartbeats, type Watched } from "./heartbeats.ts";
import { judgeDeath, readEnd } from "./judge_death.ts";
import { defaultLimits } from "../limits.ts";
import { gatewayProcess, hostSpec } from "../link/process_spec.ts";
import { afterCrash, type CrashHistory } from "./restart_policy.ts";

/** Time that only moves when told; `late` timers run when time has passed them. */
class ManualTime {
  #now = 0;
  #timers: { at: number; run: () => void }[] = [];
  readonly clock = {
    now: () => this.#now,
    monotonic: () => this.#now,
    after: (ms: number, run: () => void) => {
      const timer = { at: this.#now + ms, run };
      this.#timers.push(timer);
      return () => void (this.#timers = this.#timers.filter((other) => other !== timer));
    },
  };

  /** Moves on; each timer runs once at most, as late as the jump makes it. */
  jump(ms: number): void {
    this.#now += ms;
    const due = this.#timers.filter((timer) => timer.at <= this.#now);
    this.#timers = this.#timers.filter((timer) => timer.at > this.#now);
    for (const timer of due) timer.run();
  }

  walk(ms: number, step = 100): void {
    for (let passed = 0; passed < ms; passed += step) this.jump(step);
  }
}

/** Something that beats when told. */
class Patient implements Watched {
  lastBeat = 0;
  deaths = 0;

  constructor(readonly inside?: Watched) {}

  limitMs() {
    return 5_000;
  }

  hung() {
    this.deaths++;
  }
}

function watch(...patients: Patient[]) {
  const time = new ManualTime();
  const heartbeats = new Heartbeats(time.clock, 500, () => {});
  heartbeats.start();
  for (const patient of patients) heartbeats.add(patient);
  return { time, heartbeats };
}

Deno.test("whoever is silent for too long hangs", () => {
  const patient = new Patient();
  const { time } = watch(patient);

  time.walk(5_400);
  assert.equal(patient.deaths, 0);
  time.walk(700);

  assert.equal(patient.deaths, 1);
});

Deno.test("a judge that was stopped for ten seconds judges nobody whose beats were waiting", () => {
  const patient = new Patient();
  const { time } = watch(patient);
  time.walk(4_000);

  time.jump(10_000);
  patient.lastBeat = time.clock.monotonic();
  time.walk(4_900);

  assert.equal(patient.deaths, 0);
});

Deno.test("a judge's lateness does not save whoever hangs", () => {
  const patient = new Patient();
  const { time } = watch(patient);

  time.jump(10_000);
  time.walk(6_500);

  assert.ok(patient.deaths > 0);
});

Deno.test("nobody is judged inside a process that is silent itself", () => {
  const host = new Patient();
  const worker = new Patient(host);
  const { time } = watch(host, worker);

  time.walk(7_000);

  assert.ok(host.deaths > 0);
  assert.equal(worker.deaths, 0);
});

const busy = (...slots: number[]) => [1, 2, 3, 4, 5].map((slot) => ({ slot, busy: slots.includes(slot) }));

Deno.test("a hang has one suspect, and everybody else is lost", () => {
  const verdicts = judgeDeath({ reason: "hang", detail: "d", suspect: 2 }, busy(1, 2, 3));

  assert.deepEqual(verdicts.map(({ reason, suspect }) => [reason, suspect]), [
    ["lost", false],
    ["hang", true],
    ["lost", false],
    ["lost", false],
    ["lost", false],
  ]);
  assert.deepEqual(verdicts.map((verdict) => verdict.group), [undefined, 0, undefined, undefined, undefined]);
});

Deno.test("a full heap is the fault of the only busy one, and of nobody when several were busy", () => {
  const one = judgeDeath({ reason: "oom", detail: "d" }, busy(4));
  const several = judgeDeath({ reason: "oom", detail: "d" }, busy(1, 2, 5));

  assert.deepEqual(one.filter((verdict) => verdict.suspect).map(({ slot, reason }) => [slot, reason]), [[
    4,
    "oom",
  ]]);
  assert.ok(several.every((verdict) => !verdict.suspect && verdict.reason === "lost"));
  assert.deepEqual(several.map((verdict) => verdict.group), [0, 0, undefined, undefined, 1]);
});

Deno.test("when somebody touched the link, every occupant is suspected", () => {
  const verdicts = judgeDeath({ reason: "exit", detail: "d", anyone: true }, busy(1));
  const [alone] = judgeDeath({ reason: "exit", detail: "d", anyone: true }, [{ slot: 1, busy: false }]);

  assert.deepEqual(
    verdicts.map(({ suspect, group }) => [suspect, group]),
    [0, 0, 0, 1, 1].map((group) => [false, group]),
  );
  assert.equal(alone?.suspect, true);
});

Deno.test("splitting suspects over two groups finds the guilty one", () => {
  let group = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  for (let rounds = 0; group.length > 1; rounds++) {
    assert.ok(rounds < 5);
    const verdicts = judgeDeath({ reason: "oom", detail: "d" }, group.map((slot) => ({ slot, busy: true })));
    const guilty = verdicts.find((verdict) => verdict.slot === 7);
    group = verdicts.filter((verdict) => verdict.group === guilty?.group).map((verdict) => verdict.slot);
  }

  assert.deepEqual(group, [7]);
});

Deno.test("an unordered end blames only who lived alone", () => {
  const [alone] = judgeDeath({ reason: "killed", detail: "d" }, [{ slot: 1, busy: true }]);

  assert.ok(judgeDeath({ reason: "killed", detail: "d" }, busy(1)).every((verdict) => !verdict.suspect));
  assert.equal(alone?.suspect, true);
});

Deno.test("a process's end is read from its code and signal", () => {
  const read = (code: number, signal: string | null, badFrame = false) =>
    readEnd({ code, signal, badFrame }).reason;

  assert.deepEqual(
    [read(133, "SIGTRAP"), read(134, null), read(137, "SIGKILL"), read(1, null), read(137, "SIGKILL", true)],
    ["oom", "oom", "killed", "exit", "killed"],
  );
});

Deno.test("an actor that crashes more than five times in a minute is parked, a singleton waits longer instead", () => {
  const options = { limits: defaultLimits.restart, random: () => 1 };
  const crash = (singleton: boolean, gapMs: number) => {
    const seen: (number | "park")[] = [];
    let history: CrashHistory = [];
    for (let n = 0; n < 8; n++) {
      const next = afterCrash(history, { ...options, singleton, now: n * gapMs });
      seen.push(next.action === "park" ? "park" : next.delayMs);
      history = next.history;
    }
    return seen;
  };

  assert.deepEqual(crash(false, 1_000), [100, 200, 400, 800, 1_600, "park", "park", "park"]);
  assert.deepEqual(crash(true, 1_000), [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800]);
  assert.ok(crash(false, 15_000).every((delay) => delay !== "park"));
});

Deno.test("a pure host may read its bundles and nothing else, a gateway has exactly its flags", () => {
  const child = { config: "/app/deno.json", heapMb: 64, env: { HOME: "/root" } };
  const rights = (args: readonly string[]) => args.filter((arg) => arg.startsWith("--allow") || arg === "-A");
  const kind = {
    kind: "tools",
    mode: "gateway",
    entry: "/app/tools.ts",
    flags: ["--allow-net=a.example"],
  } as const;

  const host = hostSpec("/app/host.ts", { ...child, read: ["/app/build"] });
  const gateway = gatewayProcess(kind, child);

  assert.deepEqual(rights(host.flags), ["--allow-read=/app/build"]);
  assert.deepEqual(rights(gateway.flags), ["--allow-net=a.example"]);
  for (const { flags } of [host, gateway]) {
    for (const flag of ["--cached-only", "--frozen", "--no-prompt"]) assert.ok(flags.includes(flag));
  }
});
