/**
 * Entry of the toolbox's process: the gateway on the machine's own clock. Which permissions it needs is what `toolboxPermissions` of
 * `config.ts` says; it reads no environment variable.
 */
import { systemClock } from "../../lib/clock.ts";
import { runGateway } from "../../runtime/gateway_host.ts";
import { createToolbox } from "./gateway.ts";

if (import.meta.main) runGateway(createToolbox({ clock: systemClock, random: Math.random }));
