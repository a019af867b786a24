/**
 * Programs that are not themselves what runs: wrappers run the words that follow them, interpreters a text that they are given. A rule must not
 * allow one of them alone, and what they run cannot be read from the words. The list is never complete; what it misses still needs somebody
 * to write the rule. Proven by `policy_test.ts` and `shell_line_test.ts`.
 */

const runners: ReadonlySet<string> = new Set(
  ("busybox chroot doas env eval exec flock ionice nice nohup nsenter parallel pkexec proxychains script setpriv setsid ssh stdbuf strace su sudo " +
    "systemd-run time timeout toybox unshare watch xargs").split(" "),
);

const interpreters: ReadonlySet<string> = new Set(
  ("ash awk bash bun bunx bwrap cmd csh dash deno docker expect find fish gawk gdb git ksh lua make mawk node nodejs npm npx osascript perl php " +
    "pip pipx pnpm podman powershell pwsh python ruby sed sh tclsh tmux uv uvx vi vim yarn zsh").split(" "),
);

/** Options with which an interpreter takes its program from the words, or runs a program for what it finds. */
const inline: Readonly<Record<string, RegExp>> = {
  find: /^-(?:exec|execdir|ok|okdir|delete|fprint\w*|fls)$/,
  git: /^(?:-c|--exec-path.*|--config-env.*)$/,
  sed: /^(?:-[a-z]*[ei].*|--expression.*|--in-place.*|.*[\n;]?\s*e\b.*)$/,
  awk: /^/,
  gawk: /^/,
  mawk: /^/,
  expect: /^/,
};
const INLINE =
  /^(?:-[A-Za-z]*[ceEpr]|--(?:command|eval|print|exec|run|require|import)(?:=.*)?|-(?:e|c)=.*|eval|exec|x)$/;

/** Whether a program runs whatever words follow it. */
export function isRunner(name: string): boolean {
  return runners.has(plain(name));
}

/** Whether a program runs a text or file it is given; harmless only when that is named. */
export function isInterpreter(name: string): boolean {
  return interpreters.has(plain(name));
}

/** Whether these words make the program evaluate text of theirs, so that they say little about what runs. */
export function evaluates(name: string, words: readonly string[]): boolean {
  const program = plain(name);
  if (!interpreters.has(program)) return false;
  const options = inline[program] ?? INLINE;
  return words.length === 0 && !inline[program] || words.some((word) => options.test(word));
}

/** `Python3.11` is `python`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/\.exe$/, "").replace(/[\d.]+$/, "");
}
