/// <reference lib="deno.worker" />
/**
 * A store Worker for tests: opens, then dies of an uncaught exception at the first commit.
 */
self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === "call" && data.call.type === "commit") throw new Error("died in the middle of a commit");
  if (data.type === "call") {
    self.postMessage({ type: "answer", id: data.id, answer: null } satisfies FromWorker);
  }
};

import type { FromWorker, ToWorker } from "../../store/worker_protocol.ts";

self.postMessage({ type: "ready" } satisfies FromWorker);
