/** What the push gateway is started with, and the rights that follow from it. Proven by `composition/composition_test.ts`. */
import * as z from "zod";
import { PUSH_HOSTS } from "../../lib/push_endpoint.ts";

/** The private key by which push services know this installation: a JSON Web Key of P-256. */
export const VapidKey = z.object({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: z.string(),
  y: z.string(),
  d: z.string(),
});
export type VapidKey = z.infer<typeof VapidKey>;

/** The start message's configuration. */
export const PushConfig = z.object({
  key: VapidKey,
  /** Whom a push service may ask about what it is sent: an https or mailto address. */
  contact: z.string(),
  /** The origin of a push service for tests. */
  testOrigin: z.string().optional(),
});
export type PushConfig = z.infer<typeof PushConfig>;

/** The hosts that the gateway may reach, as `--allow-net` writes them. */
export function pushHosts({ testOrigin }: Pick<PushConfig, "testOrigin">): string[] {
  const hosts = PUSH_HOSTS.map((host) => `${host}:443`);
  return testOrigin === undefined ? hosts : [...hosts, new URL(testOrigin).host];
}
