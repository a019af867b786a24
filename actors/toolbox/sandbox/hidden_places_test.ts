/** Proves which places of a workspace are hidden from commands, and that looking for them is bounded and follows nothing. */
import assert from "node:assert/strict";
import { type HiddenPlace, hiddenPlaces, type Listing } from "./hidden_places.ts";

/** A tree: folders are objects, `null` is a file, `link` a link, `closed` a folder that cannot be looked into. */
type Tree = { readonly [name: string]: Tree | null | "link" | "closed" };

function listing(tree: Tree, looked: string[] = []): (path: string) => Promise<Listing> {
  return (path) => {
    looked.push(path);
    let at: Tree | null | "link" | "closed" | undefined = tree;
    for (const name of path.split("/").slice(2)) at = typeof at === "object" ? at?.[name] : undefined;
    if (at === "closed") return Promise.resolve("unreadable");
    if (typeof at !== "object" || at === null) return Promise.reject(new Error(`${path} was looked into`));
    return Promise.resolve(
      Object.entries(at).map(([name, child]) => ({
        name,
        isDirectory: child === "closed" || typeof child === "object" && child !== null,
        isSymlink: child === "link",
      })),
    );
  };
}

async function hidden(tree: Tree, patterns?: readonly string[]): Promise<readonly HiddenPlace[]> {
  const found = await hiddenPlaces("/w", patterns, { list: listing(tree) });
  assert.ok(found.ok);
  return found.value;
}

const tree: Tree = {
  src: { "a.ts": null, secrets: { k: null, deep: { l: null } } },
  secrets: null,
  ".ssh": { id: null },
  leak: "link",
  "secrets-not": { k: null },
};

Deno.test("secrets are hidden at any depth, folders and files, and nothing else", async () => {
  assert.deepEqual(await hidden(tree), [
    { path: "/.ssh", kind: "directory" },
    { path: "/secrets", kind: "file" },
    { path: "/src/secrets", kind: "directory" },
  ]);
});

for (
  const [pattern, expected] of [
    ["/src/a.ts", ["/src/a.ts"]],
    ["/src/*", ["/src"]],
    ["/**/*.ts", ["/src/a.ts"]],
    ["/**/deep/*", ["/src/secrets/deep"]],
    ["/sec*", ["/secrets", "/secrets-not"]],
    ["/**/deep/l", ["/src/secrets/deep/l"]],
    ["/s?c/secrets/k", ["/src/secrets/k"]],
    ["*", ["/"]],
    ["/**", ["/"]],
    ["/none/*", []],
  ] as const
) {
  Deno.test(`hidden by the pattern ${pattern}`, async () => {
    assert.deepEqual((await hidden(tree, [pattern])).map(({ path }) => path), expected);
  });
}

Deno.test("a link is not followed, and not hidden: what it leads to is hidden where it is", async () => {
  assert.deepEqual(await hidden({ secrets: "link", a: { ".ssh": "link" } }), []);
});

Deno.test("what is hidden already is not looked into, and without patterns nothing is", async () => {
  const looked: string[] = [];
  await hiddenPlaces("/w", undefined, { list: listing(tree, looked) });
  assert.deepEqual(looked.sort(), ["/w", "/w/secrets-not", "/w/src"]);
  looked.length = 0;
  assert.deepEqual(await hiddenPlaces("/w", [], { list: listing(tree, looked) }), { ok: true, value: [] });
  assert.deepEqual(looked, []);
});

Deno.test("a folder that cannot be looked into is hidden as a whole", async () => {
  assert.deepEqual(await hidden({ a: { b: "closed" } }), [{ path: "/a/b", kind: "directory" }]);
});

Deno.test("a workspace that is too large to look through is a problem, not a reason to hide less", async () => {
  const list = listing(tree);
  assert.equal((await hiddenPlaces("/w", undefined, { list, maxEntries: 5 })).ok, false);
  assert.equal((await hiddenPlaces("/w", undefined, { list, maxPlaces: 2 })).ok, false);
  await assert.rejects(hiddenPlaces("/w", undefined, { list, signal: AbortSignal.abort() }));
});
