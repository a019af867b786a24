/**
 * The one piece of grammar that the texts share. English only. Proven by the tests of the screens that count.
 */

/** A count with its noun. */
export function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
