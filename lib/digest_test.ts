/** Proves `digest.ts` against RFC 8785 §3.2.2, §3.2.3 and appendix B, the NIST SHA-256 examples, and WebCrypto at every padding edge. */
import assert from "node:assert/strict";
import { canonicalJson, digestOf, sha256Hex } from "./digest.ts";

Deno.test("canonicalJson() writes the sample of RFC 8785 §3.2.2", () => {
  const value: unknown = JSON.parse(String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`);

  assert.equal(
    canonicalJson(value),
    String
      .raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

Deno.test("canonicalJson() sorts members by UTF-16 code units as RFC 8785 §3.2.3 shows", () => {
  const value = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
  };

  const order = [...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map((match) => match[1]);

  assert.deepEqual(order, [
    "Carriage Return",
    "One",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
  ]);
});

Deno.test("canonicalJson() writes the numbers of RFC 8785 appendix B", () => {
  const rows: [string, string][] = [
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ];

  for (const [bits, text] of rows) {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`));
    assert.equal(canonicalJson(view.getFloat64(0)), text, bits);
  }
});

Deno.test("canonicalJson() refuses what JSON cannot say", () => {
  const loop: unknown[] = [];
  loop.push(loop);

  for (const value of [NaN, Infinity, "\ud800", undefined, () => 1, 1n, loop, [undefined], { "\udc00": 1 }]) {
    assert.throws(() => canonicalJson(value), TypeError);
  }
  const twice = { a: 1 };
  assert.equal(canonicalJson([twice, twice]), '[{"a":1},{"a":1}]');
  assert.equal(canonicalJson({ a: undefined, b: 1 }), '{"b":1}');
});

Deno.test("sha256Hex() gives the NIST examples", () => {
  const rows: [string, string][] = [
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ],
    ["a".repeat(1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"],
  ];

  for (const [text, hash] of rows) assert.equal(sha256Hex(text), hash);
});

Deno.test("sha256Hex() agrees with WebCrypto at every padding edge", async () => {
  for (let length = 0; length <= 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, index) => index * 37 & 255);
    const expected = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    assert.equal(sha256Hex(bytes), expected, `length ${length}`);
  }
  assert.equal(digestOf({ b: "é", a: 1 }), sha256Hex('{"a":1,"b":"é"}'));
});
