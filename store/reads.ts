/** The closed catalogue of reads that gateways may ask for. Each subject declares its own in `store/reads/`. */
import type { ReadSpec } from "./read.ts";
import { pushReads } from "./reads/push.ts";
import { toolboxReads } from "./reads/toolbox.ts";
import { zulipReads } from "./reads/zulip.ts";

/** Every read, by name. */
export const readCatalogue: Readonly<Record<string, ReadSpec>> = {
  ...pushReads,
  ...toolboxReads,
  ...zulipReads,
};
