/**
 * A peer: a Durable Object with a mailbox, on `workerd` itself and not through Miniflare, whose proxy would only slow it down. The object
 * inserts the message, waits for the disk (`storage.sync()`), then commits effect and removal together; the output gate holds the answer
 * until that too is durable. The same order of promises as ours, on SQLite in the same process.
 */
import { join } from "node:path";
import { npmInstall } from "./npm.ts";
import { type ServerProcess, startServer } from "../servers/server_process.ts";

const VERSION = "1.20261117.1";

/** Starts it on `folder`, or says why it cannot be had. */
export async function startDurableObject(
  folder: string,
): Promise<ServerProcess | { readonly missing: string }> {
  const installed = await npmInstall("workerd", { workerd: VERSION });
  if ("missing" in installed) return installed;
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "64";
  const binary = join(
    installed.folder,
    `node_modules/@cloudflare/workerd-${Deno.build.os}-${arch}/bin/workerd`,
  );
  const port = freePort();
  await Deno.mkdir(join(folder, "objects"));
  await Deno.copyFile(new URL("./durable_object_worker.js", import.meta.url), join(folder, "worker.js"));
  await Deno.writeTextFile(join(folder, "config.capnp"), configuration(join(folder, "objects"), port));
  try {
    return await startServer({ command: binary, args: ["serve", join(folder, "config.capnp")], port });
  } catch (error) {
    return { missing: String(error) };
  }
}

/** A port that nobody listens on at this moment. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function configuration(disk: string, port: number): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .counter),
    (name = "disk", disk = (path = "${disk}", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const counter :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-01-01",
  bindings = [(name = "COUNTER", durableObjectNamespace = "Counter")],
  durableObjectNamespaces = [(className = "Counter", uniqueKey = "bench", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
);
`;
}
