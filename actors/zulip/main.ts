/**
 * The Zulip gateway's process: the client from the start message's configuration, and the gateway on top of it.
 */
import { systemClock } from "../../lib/clock.ts";
import { runGateway } from "../../runtime/gateway_host.ts";
import { createZulipClient } from "../../zulip/client.ts";
import { ZulipConfig } from "./config.ts";
import { zulipGateway } from "./gateway.ts";

runGateway(zulipGateway((raw) => {
  const config = ZulipConfig.parse(raw);
  const client = createZulipClient({
    site: config.site,
    email: config.email,
    apiKey: config.apiKey,
    clock: systemClock,
  });
  return { config, client, clock: systemClock, random: Math.random };
}));
