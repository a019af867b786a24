/**
 * A push service on loopback: takes messages for the browsers it knows, checks who sends them (RFC 8292) and keeps what the browser could read. It
 * answers as it is told: taken, gone, too many, broken. What a service must refuse, it refuses and remembers.
 */
import { fromBase64Url } from "../../../lib/base64url.ts";
import { BrowserKeys } from "./browser_keys.ts";

/** A message as the browser got it. */
export interface Received {
  readonly browser: string;
  /** The decrypted JSON. */
  readonly notice: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

/** A browser that subscribed. */
export interface FakeSubscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** See the file's comment. Close it at the end of each test. */
export class FakePush {
  readonly received: Received[] = [];
  /** What was wrong with requests that it refused with 400 or 403. */
  readonly complaints: string[] = [];
  /** Answers to come, in order; then 201. */
  readonly answers: { readonly status: number; readonly headers?: Readonly<Record<string, string>> }[] = [];
  /** How many requests came, whatever became of them. */
  requests = 0;
  readonly #browsers = new Map<string, BrowserKeys>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /** `vapidPublic`: the key that browsers subscribed to; others are refused. */
  constructor(readonly vapidPublic: () => string) {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#take(request),
    );
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** A new browser. */
  async subscribe(browser: string): Promise<FakeSubscription> {
    const keys = await BrowserKeys.make();
    this.#browsers.set(browser, keys);
    return { endpoint: `${this.origin}/push/${browser}`, keys: { p256dh: keys.p256dh, auth: keys.auth } };
  }

  async close(): Promise<void> {
    await this.#server.shutdown();
  }

  async #take(request: Request): Promise<Response> {
    this.requests += 1;
    const body = new Uint8Array(await request.arrayBuffer());
    const browser = new URL(request.url).pathname.split("/").at(-1) ?? "";
    const keys = this.#browsers.get(browser);
    const answer = this.answers.shift() ?? { status: keys ? 201 : 404 };
    if (answer.status !== 201) return new Response("told to", answer);
    const problem = await this.#problemOf(request);
    if (problem !== undefined || !keys) return this.#refuse(problem ?? "no such browser");
    try {
      const notice = JSON.parse(await keys.decrypt(body));
      this.received.push({ browser, notice, headers: request.headers });
      return new Response(null, { status: 201 });
    } catch (error) {
      return this.#refuse(`the browser cannot read it: ${error}`);
    }
  }

  #refuse(complaint: string): Response {
    this.complaints.push(complaint);
    return new Response(complaint, { status: 400 });
  }

  async #problemOf({ method, headers }: Request): Promise<string | undefined> {
    if (method !== "POST") return "no POST";
    if (headers.get("content-encoding") !== "aes128gcm") return "not encrypted by RFC 8291";
    if (!/^\d+$/.test(headers.get("ttl") ?? "")) return "no TTL";
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(headers.get("topic") ?? "a")) return "a bad Topic";
    const [, token = "", key = ""] =
      /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(headers.get("authorization") ?? "") ??
        [];
    if (key !== this.vapidPublic()) return "another sender's key";
    const [head = "", claims = "", signature = ""] = token.split(".");
    const verifier = await crypto.subtle.importKey(
      "raw",
      fromBase64Url(key),
      { name: "ECDSA", namedCurve: "P-256" },
      false,
      ["verify"],
    );
    const isSigned = await crypto.subtle.verify(
      { name: "ECDSA", hash: "SHA-256" },
      verifier,
      fromBase64Url(signature),
      new TextEncoder().encode(`${head}.${claims}`),
    );
    if (!isSigned) return "a wrong signature";
    const { aud, exp, sub } = JSON.parse(new TextDecoder().decode(fromBase64Url(claims)));
    const leftSeconds = exp - Date.now() / 1000;
    if (aud !== this.origin) return "made for another service";
    if (!(leftSeconds > 0 && leftSeconds <= 86_400)) return "too old, or good for too long";
    return /^(https|mailto):/.test(sub) ? undefined : "nobody to ask";
  }
}
