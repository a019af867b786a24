/// <reference lib="deno.worker" />
/** Says everything back. */
self.onmessage = (event: MessageEvent<string>) => self.postMessage(event.data);
