/**
 * The key by which push services know this installation: made once, kept in a file that only its owner may read, or given by `VAPID_KEY`. With another
 * key every browser would have to subscribe anew. Its private half goes to the push gateway alone. Proven by `push_key_test.ts`.
 */
import { dirname } from "node:path";
import { VapidKey } from "../actors/push/config.ts";

/** Reads the key of a data folder, or makes it. Rejects with an error that says what to do when the file holds none. */
export async function openVapidKey(dataDir: string): Promise<VapidKey> {
  const file = `${dataDir}/vapid.json`;
  if (!await exists(file)) await make(file);
  return readVapidKey(await Deno.readTextFile(file), file);
}

/** Written whole under another name first: a start that is cut off here leaves no half a key, and of two starts one wins. */
async function make(file: string): Promise<void> {
  const draft = await Deno.makeTempFile({ dir: dirname(file), prefix: "vapid-" });
  try {
    await Deno.writeTextFile(draft, JSON.stringify(await makeVapidKey()));
    await Deno.link(draft, file);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  } finally {
    await Deno.remove(draft);
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await Deno.stat(file);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The key in a text. Throws `TypeError`, which names `source` and never the text, when there is none. */
export function readVapidKey(text: string, source: string): VapidKey {
  try {
    return VapidKey.parse(JSON.parse(text));
  } catch {
    throw new TypeError(
      `${source} holds no private key for push messages (a JSON Web Key of P-256); remove it, and a new one is made`,
    );
  }
}

/** A new key. */
export async function makeVapidKey(): Promise<VapidKey> {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]);
  return VapidKey.parse(await crypto.subtle.exportKey("jwk", pair.privateKey));
}
