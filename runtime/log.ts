/** The log as the runtime sees it: a level, a text that never changes, and facts that do. Facts hold no secret and no message body. */
import type { LogLevel } from "./link/link_messages.ts";

export type { LogLevel };

/** Writes one line. */
export type Log = (level: LogLevel, text: string, facts?: Readonly<Record<string, unknown>>) => void;
