/**
 * Makes the texts of an answer as wide as they get: a word without any place to break it, at the end of whatever a person, a model or a server wrote.
 */

/** The word. */
export const LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitaen_".repeat(8);

/** Members that hold free text; ids, states and names that the page looks up stay as they are. */
const FREE_TEXT = new Set(
  ("title name topic channel preview text question note message summary tool toolPattern pathPattern path agent " +
    "pattern grantedBy prompt description parkedReason detail by actor device label createdBy key model profile instructions writePaths excludedTools")
    .split(" "),
);

/** A copy of `value` with every free text lengthened. */
export function lengthened(value: unknown, key = ""): unknown {
  if (typeof value === "string") return FREE_TEXT.has(key) ? `${value} ${LONG_WORD}` : value;
  if (Array.isArray(value)) return value.map((each) => lengthened(each, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, lengthened(each, name)]));
}
