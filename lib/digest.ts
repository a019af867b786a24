/**
 * Digests that bind a decision to what runs: RFC 8785 canonical JSON and SHA-256, both synchronous, since a pure actor may not await.
 * Needs nothing of the platform but `TextEncoder`, so it runs in a Worker without permissions. It knows nothing of tools or decisions.
 * Proven against the RFC's and NIST's vectors by `digest_test.ts`.
 */

/**
 * The RFC 8785 (JCS) form of a JSON value: members sorted by UTF-16 code units, no white space, ECMAScript numbers. Members that are
 * `undefined` are left out, as `JSON.stringify` does. Throws `TypeError` for what JSON cannot say: NaN, infinities, lone surrogates,
 * functions, bigints, cycles, `undefined` outside an object.
 *
 * @example
 * ```ts
 * import { canonicalJson } from "./digest.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(canonicalJson({ b: 1, a: [true, null] }), '{"a":[true,null],"b":1}');
 * ```
 */
export function canonicalJson(value: unknown): string {
  return write(value, new Set());
}

function write(value: unknown, above: Set<object>): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return writeString(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`'value' must be a finite number, received ${value}`);
    return JSON.stringify(value);
  }
  if (typeof value !== "object") {
    throw new TypeError(`'value' must be expressible as JSON, received ${typeof value}`);
  }
  if (above.has(value)) throw new TypeError("'value' must not contain itself");
  above.add(value);
  const text = Array.isArray(value)
    ? `[${value.map((item) => write(item, above)).join(",")}]`
    : `{${members(value, above).join(",")}}`;
  above.delete(value);
  return text;
}

function members(value: object, above: Set<object>): string[] {
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0) // JS compares strings by UTF-16 code units, as the RFC wants
    .map(([name, member]) => `${writeString(name)}:${write(member, above)}`);
}

function writeString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("'value' must not contain a lone surrogate");
  return JSON.stringify(text);
}

/** Round constants of FIPS 180-4 §4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const roundConstants = Uint32Array.from(firstPrimes(64), (prime) => fraction(Math.cbrt(prime)));

/** Initial hash value of FIPS 180-4 §5.3.3: the same of the square roots of the first 8 primes. */
const initialHash = Uint32Array.from(firstPrimes(8), (prime) => fraction(Math.sqrt(prime)));

function fraction(root: number): number {
  return Math.floor((root % 1) * 2 ** 32);
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes;
}

/** SHA-256 (FIPS 180-4) of bytes, or of a text's UTF-8, as 64 lower-case hex digits. */
export function sha256Hex(input: string | Uint8Array): string {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  const hash = initialHash.slice();
  const words = new Uint32Array(64);
  const padded = pad(bytes);
  for (let offset = 0; offset < padded.byteLength; offset += 64) compress(hash, words, padded, offset);
  return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** SHA-256 over the canonical form: what a decision is bound to. */
export function digestOf(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}

function pad(bytes: Uint8Array): DataView {
  const padded = new Uint8Array(((bytes.length + 8 >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  return view;
}

function compress(hash: Uint32Array, words: Uint32Array, block: DataView, offset: number): void {
  const at = (index: number) => words[index] ?? 0;
  for (let t = 0; t < 16; t++) words[t] = block.getUint32(offset + t * 4);
  for (let t = 16; t < 64; t++) {
    const s0 = rotate(at(t - 15), 7) ^ rotate(at(t - 15), 18) ^ at(t - 15) >>> 3;
    const s1 = rotate(at(t - 2), 17) ^ rotate(at(t - 2), 19) ^ at(t - 2) >>> 10;
    words[t] = at(t - 16) + s0 + at(t - 7) + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let t = 0; t < 64; t++) {
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = h + big1 + (e & f ^ ~e & g) + (roundConstants[t] ?? 0) + at(t) | 0;
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = big0 + (a & b ^ a & c ^ b & c) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, d + t1 | 0, c, b, a, t1 + t2 | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => hash[index] = (hash[index] ?? 0) + word);
}

function rotate(word: number, bits: number): number {
  return word >>> bits | word << 32 - bits;
}
