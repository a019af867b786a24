/** Runs the fake model server as a process of its own; prints one JSON line `{"url","openaiUrl"}` when it listens. */

import { FakeModel } from "./fake_model.ts";

const fake = FakeModel.start(Number(Deno.args[0] ?? 0));
console.log(JSON.stringify({ url: fake.url, openaiUrl: fake.openaiUrl }));
Deno.addSignalListener("SIGTERM", () => Deno.exit(0));
