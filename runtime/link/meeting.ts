/**
 * Where a supervisor and one child process find each other: a Unix socket in a folder that only its user may enter. The child has two secrets
 * from its stdin: a ticket, the first thing that it says, and the key of the frames, which never crosses the socket. Promises that nobody
 * without the ticket is told anything, that only one connection is ever made, and that nothing of the socket is left in the file system once
 * it is made or given up, or this process has ended otherwise than by a kill. Proven by `host_test.ts`.
 */
import { join } from "node:path";
import { KEY_BYTES } from "./frames.ts";

const TICKET_BYTES = 32;

/** A socket on which one child is waited for. */
export class Meeting {
  readonly path: string;
  readonly key = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  readonly #ticket = crypto.getRandomValues(new Uint8Array(TICKET_BYTES));
  readonly #folder: string;
  readonly #listener: Deno.UnixListener;
  readonly #exiting = () => this.end();
  #over = false;

  /** Throws when the socket cannot be made. */
  constructor() {
    // 0700, as `makeTempDir` makes it.
    this.#folder = Deno.makeTempDirSync({ prefix: "callboard-" });
    this.path = join(this.#folder, "link");
    try {
      this.#listener = Deno.listen({ transport: "unix", path: this.path });
    } catch (error) {
      Deno.removeSync(this.#folder, { recursive: true });
      throw error;
    }
    // A start that fails exits while its first children are on their way.
    globalThis.addEventListener("unload", this.#exiting);
  }

  /** What the child must find on its stdin. */
  get secrets(): Uint8Array<ArrayBuffer> {
    return new Uint8Array([...this.#ticket, ...this.key]);
  }

  /** The child's connection, or undefined when it is given up before. */
  async connection(): Promise<Deno.UnixConn | undefined> {
    while (!this.#over) {
      const connection = await this.#listener.accept().catch(() => undefined); // given up
      if (connection && await this.#hasTicket(connection)) {
        this.end();
        return connection;
      }
      connection?.close();
    }
    return undefined;
  }

  /** Waits no longer. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    globalThis.removeEventListener("unload", this.#exiting);
    this.#listener.close();
    Deno.removeSync(this.#folder, { recursive: true });
  }

  async #hasTicket(connection: Deno.UnixConn): Promise<boolean> {
    const shown = await readExactly(TICKET_BYTES, (into) => connection.read(into).catch(() => null));
    // A stranger has one guess at 256 random bits for each connection, so the time that comparing takes tells nothing.
    return shown?.every((byte, index) => byte === this.#ticket[index]) ?? false;
  }
}

/** The child's way there: takes the secrets from stdin, connects, and shows the ticket. Rejects when nobody waits. */
export async function meet(path: string): Promise<{ connection: Deno.UnixConn; key: Uint8Array }> {
  const secrets = await readExactly(TICKET_BYTES + KEY_BYTES, (into) => Deno.stdin.readSync(into));
  if (!secrets) throw new Error("stdin ended before the secrets");
  const connection = await Deno.connect({ transport: "unix", path });
  await writeAll(connection, secrets.subarray(0, TICKET_BYTES));
  return { connection, key: secrets.subarray(TICKET_BYTES) };
}

/** Writes all of it. */
export async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

async function readExactly(
  count: number,
  read: (into: Uint8Array) => number | null | Promise<number | null>,
): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count;) {
    const more = await read(bytes.subarray(at));
    if (more === null) return undefined;
    at += more;
  }
  return bytes;
}
