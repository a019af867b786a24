/** The closed catalogue of reads that gateways may ask for. Each subject declares its own in `store/reads/`. */
import type { ReadSpec } from "./read.ts";

/** Every read, by name. */
export const readCatalogue: Readonly<Record<string, ReadSpec>> = {};
