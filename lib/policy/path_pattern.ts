/**
 * Patterns on virtual paths, which are absolute and rooted at a conversation's workspace. `*` and `?` stay within one name, `**` spans names,
 * a `*` that ends the pattern takes the rest of the path, and `<dir>/*` means `<dir>` itself as well. A path is compared as the toolbox
 * resolved it; only patterns are tidied. It knows no rule and no disk. Proven by `path_pattern_test.ts` against a slow, obvious matcher.
 */

/** A pattern rooted and without `.`, doubled or trailing slashes: `./memory//` → `/memory`. */
export function normalizePattern(pattern: string): string {
  const names = pattern.split("/").filter((name) => name !== "" && name !== ".");
  return `/${names.join("/")}`;
}

/** Why a path pattern must not be saved, or undefined when it is sound. */
export function pathPatternProblem(pattern: string): string | undefined {
  const normal = normalizePattern(pattern);
  if (normal.split("/").includes("..")) return "a path pattern must not contain `..`";
  if (/\p{Cc}/u.test(pattern)) return "a path pattern must not contain control characters";
  if ((normal.match(/\*+/g) ?? []).length > 8) return "a path pattern has at most 8 wildcards";
  if (normal.split("/").some((name) => name.includes("**") && name !== "**")) {
    return "`**` must stand alone between slashes";
  }
  return undefined;
}

/**
 * How closely a pattern names its paths: the longer the part before its first wildcard, the higher; of two as long, the one without a wildcard is
 * the closer one.
 */
export function closeness(pattern: string): number {
  const names = normalizePattern(pattern).split("/").filter((name) => name !== "");
  const wild = names.findIndex((name) => /[*?]/.test(name));
  return wild < 0 ? names.length * 2 + 1 : wild * 2;
}

/** Whether the pattern covers the path. A missing path is the caller's to refuse: no pattern covers it. */
export function matchesPath(pattern: string, path: string): boolean {
  const normal = normalizePattern(pattern);
  if (normal === "/*" || normal === "/**") return path.startsWith("/");
  if (normal.endsWith("/*") && matchNames(normal.slice(1, -2).split("/"), namesOf(path))) return true;
  const names = normal.slice(1).split("/");
  const last = names.at(-1) ?? "";
  if (last.endsWith("*") && last !== "**") return matchOpen(names, namesOf(path));
  return matchNames(names, namesOf(path));
}

function namesOf(path: string): string[] {
  return path === "/" ? [""] : path.slice(1).split("/");
}

/** A pattern whose last name ends in `*`: whatever lies below a matching name is covered too. */
function matchOpen(pattern: readonly string[], names: readonly string[]): boolean {
  return names.some((_, index) => matchNames(pattern, names.slice(0, index + 1)));
}

/**
 * Name by name; `**` stands for any number of names. Row by row over the names, so that the time is at most the product of both lengths
 * whatever the pattern: a hostile path cannot make the judge slow.
 */
function matchNames(pattern: readonly string[], names: readonly string[]): boolean {
  return matchSequence(pattern, names, (item) => item === "**", matchName);
}

/** One name; `*` stands for any number of characters, `?` for one. */
function matchName(pattern: string, name: string): boolean {
  return matchSequence([...pattern], [...name], (item) => item === "*", (item, char) => {
    return item === "?" || item === char;
  });
}

function matchSequence(
  pattern: readonly string[],
  items: readonly string[],
  isStar: (item: string) => boolean,
  same: (item: string, other: string) => boolean,
): boolean {
  // `reach[i]`: the pattern so far can have used up exactly the first `i` items.
  let reach = items.map(() => false);
  reach = [true, ...reach];
  for (const part of pattern) {
    if (isStar(part)) {
      const first = reach.indexOf(true);
      reach = reach.map((_, index) => first >= 0 && index >= first);
    } else {
      reach = reach.map((_, index) =>
        index > 0 && reach[index - 1] === true && same(part, items[index - 1] ?? "")
      );
    }
  }
  return reach.at(-1) === true;
}
