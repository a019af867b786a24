/**
 * Whether a `git` command runs something that its words hide: through configuration given on the line, programs for the other side or for showing,
 * scripts for each commit or submodule. git takes any unique beginning of a long option, so these are matched by their beginnings. Proven
 * by `shell_line_test.ts`.
 */

/** Before the sub-command. */
const GLOBAL = /^(?:-c|--exec-path.+|--config-env.*)$/;
/** Take the next word as their value. */
const WITH_VALUE: ReadonlySet<string> = new Set([
  "-C",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--super-prefix",
]);
/** Of any sub-command: programs to run, files to write, protocols that are programs. */
const ANYWHERE =
  /^(?:--(?:upl|rece|exe|ext|textc|outp|op|tem|conf|gpg|edit|tool|sen|smtp|to-c).*|(?:\w+=)?ext::.*)$/;
/** Sub-commands that are there to run or to set up other programs. */
const ALWAYS: ReadonlySet<string> = new Set(
  ("config credential cvsserver daemon difftool filter-branch for-each-repo fsmonitor--daemon help hook http-backend instaweb " +
    "maintenance mergetool p4 remote-ext remote-fd send-email send-pack shell svn upload-pack var web--browse")
    .split(" "),
);
const OF: Readonly<Record<string, RegExp>> = {
  archive: /^(?:-o.*|--remote.*)$/,
  bisect: /^(?:run|view|visualize)$/,
  clone: /^-[A-Za-z]*[cu].*$/,
  fetch: /^-u/,
  "ls-remote": /^-u/,
  "fetch-pack": /^-u/,
  grep: /^-[A-Za-z]*O/,
  init: /^-.*=/,
  rebase: /^-[A-Za-z]*[xs]/,
  remote: /^(?:add|set-url)$/,
  submodule: /^(?:foreach|add|set-url)$/,
  merge: /^-[A-Za-z]*[sX]/,
  pull: /^-[A-Za-z]*[sX]/,
  "cherry-pick": /^--strategy.*$/,
  notes: /^-c$/,
};

/** Whether these words after `git` say too little about what runs. */
export function gitEvaluates(words: readonly string[]): boolean {
  let at = 0;
  for (; at < words.length && words[at]?.startsWith("-"); at++) {
    const word = words[at] ?? "";
    if (GLOBAL.test(word)) return true;
    if (WITH_VALUE.has(word)) at++;
  }
  const [command, ...rest] = words.slice(at);
  if (command === undefined) return false;
  const own = Object.hasOwn(OF, command) ? OF[command] : undefined;
  return ALWAYS.has(command) || rest.some((word) => ANYWHERE.test(word) || own?.test(word));
}
