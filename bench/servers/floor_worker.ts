/// <reference lib="deno.worker" />
/** The floor's actor: counts as many messages as it is told of. */
let count = 0;

self.onmessage = ({ data }: MessageEvent<number>) => {
  self.postMessage(Array.from({ length: data }, () => ++count));
};
