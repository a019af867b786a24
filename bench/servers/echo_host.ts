/** The floor of a hop: a process that passes lines of stdin to a Worker and the Worker's answers to stdout, with no frames, no MAC, no JSON. */
const encoder = new TextEncoder();
const worker = new Worker(new URL("./echo_worker.ts", import.meta.url), { type: "module" });
worker.onmessage = (event: MessageEvent<string>) => void Deno.stdout.write(encoder.encode(`${event.data}\n`));

for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  for (const line of text.split("\n")) if (line !== "") worker.postMessage(line);
}
Deno.exit(0);
