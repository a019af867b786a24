/**
 * As much of CBOR (RFC 8949) as an authenticator writes: integers, byte strings, text and maps, definite and shortest.
 */

/** What can be written. */
export type Cbor = number | string | Uint8Array | ReadonlyMap<number | string, Cbor>;

/** The bytes of a value. */
export function cbor(value: Cbor): Uint8Array<ArrayBuffer> {
  if (typeof value === "number") return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (value instanceof Uint8Array) return joined([head(2, value.length), value]);
  if (typeof value === "string") {
    const text = new TextEncoder().encode(value);
    return joined([head(3, text.length), text]);
  }
  return joined([head(5, value.size), ...[...value].flatMap(([key, inner]) => [cbor(key), cbor(inner)])]);
}

/** Byte strings one after another. */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

function head(major: number, size: number): Uint8Array<ArrayBuffer> {
  const type = major << 5;
  if (size < 24) return new Uint8Array([type | size]);
  if (size < 0x100) return new Uint8Array([type | 24, size]);
  if (size < 0x10000) return new Uint8Array([type | 25, size >> 8, size & 0xff]);
  throw new RangeError(`'size' must be below 65536, received ${size}`);
}
