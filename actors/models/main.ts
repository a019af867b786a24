/**
 * Entry of the models gateway: wires the providers and the rehearsal model to the gateway.
 *
 * Needs `--allow-net` for `modelHosts(config)` and `--ignore-env`; reads no file and starts no process.
 * What it wires is proved by `gateway_test.ts`, `rehearsal_test.ts` and `pi/pi_stream_test.ts`.
 */

import { systemClock } from "../../lib/clock.ts";
import type { Gateway } from "../../runtime/actor.ts";
import { runGateway } from "../../runtime/gateway_host.ts";
import { ModelsConfig } from "./config.ts";
import { createModelsGateway } from "./gateway.ts";
import { takeConsole } from "./library_console.ts";
import { type ModelStream, routeModels } from "./model_stream.ts";
import type { PiStreamOptions } from "./pi/pi_stream.ts";
import { createRehearsalStream } from "./rehearsal_stream.ts";
import { openSingleShotFetch } from "./single_shot_fetch.ts";

/** The models gateway on the machine's clock and network. */
export const gateway: Gateway = createModelsGateway({
  clock: systemClock,
  open({ config, log }) {
    takeConsole(console, log);
    const { anthropic, openai, ollama, idleLimitMs, rehearsalPaceMs } = ModelsConfig.parse(config);
    const http = openSingleShotFetch();
    const stream = routeModels({
      rehearsal: createRehearsalStream({ clock: systemClock, paceMs: rehearsalPaceMs }),
      provider: openProviders({
        endpoints: { anthropic, openai, ollama },
        fetch: http.fetch,
        clock: systemClock,
        idleLimitMs,
      }),
    });
    return { stream, close: http.close };
  },
});

/** The providers' libraries are 20 MiB: they are loaded for the first request that needs them. */
function openProviders(options: PiStreamOptions): ModelStream {
  let stream: Promise<ModelStream> | undefined;
  return async (request, streamOptions) => {
    stream ??= import("./pi/pi_stream.ts").then(({ createPiStream }) => createPiStream(options));
    return (await stream)(request, streamOptions);
  };
}

if (import.meta.main) runGateway(gateway);
