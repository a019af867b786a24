/**
 * Programs that are not themselves what runs: wrappers run the words that follow them, interpreters and build tools a text, file or target that they
 * are given. A rule must not allow one of them alone, and what they run cannot always be read from the words. The lists are never complete;
 * what they miss still needs somebody to write the rule. Proven by `policy_test.ts` and `shell_line_test.ts`.
 */
import { gitEvaluates } from "./git_words.ts";
import { inlineOptions, openers } from "./program_options.ts";
import { sedEvaluates } from "./sed_words.ts";

const runners: ReadonlySet<string> = new Set(
  ("arch at batch bwrap busybox caffeinate capsh catchsegv cgexec chpst choom chroot chrt concurrently cross-env crontab daemonize " +
    "dbus-launch dbus-run-session doas dotenv dtach entr env envdir eval exec faketime fakechroot fakeroot firejail flock foreman gosu " +
    "hyperfine ionice kexec linux32 linux64 ltrace mosh nice nohup nsenter numactl parallel perf pkexec prlimit proot proxychains rlwrap rsh " +
    "run-parts runuser script setarch setlock setpriv setsid setuidgid softlimit ssh ssh-agent sshpass start-stop-daemon stdbuf strace su " +
    "su-exec sudo sudoedit systemd-inhibit systemd-nspawn systemd-run taskset time timeout torify torsocks toybox tsocks unbuffer " +
    "unshare valgrind watch watchexec wine xargs xvfb-run").split(" "),
);

const interpreters: ReadonlySet<string> = new Set(
  ("ansible ansible-playbook ant ash asdf awk bash bazel bazelisk bb bmake brew buck bun bundle bundler bunx cabal cargo clisp clj clojure " +
    "cmake cmd coffee conda context crystal csh d8 dart dash dc deno direnv docker dotnet ed elixir elvish emacs emacsclient erl escript ex expect " +
    "fab find fish flutter gawk gcc gdb gem gfind ghci git gmake gnuplot go gradle gradlew groovy guile hatch hg hhvm iex inv invoke ipython " +
    "janet java jshell julia jupyter just kotlin kotlinc ksh kubectl latexmk less lldb lua luajit lualatex luatex m4 make mamba man mariadb " +
    "mawk meson micromamba mise mix mksh more msbuild mvn mvnd mvnw mysql nawk nc ncat nerdctl nim ninja nix nix-shell node nodejs nox npm " +
    "npx nu nvim octave original-awk osascript osh pdflatex pdm perl php pip pipenv pipx pixi pnpm pnpx podman poetry powershell psql pwsh " +
    "py.test pyenv pypy pytest python qjs r racket rake raku rbenv rscript ruby runghc runhaskell rust-script rvim rye samu sbcl scala " +
    "scheme scons screen sed sh socat sqlite3 stack swift task tclsh tcsh tex tmux tofu tox ts-node tsx uv uvx v vagrant vi view vim " +
    "vimdiff volta wasmer wasmtime wish wsl xelatex xonsh yarn yash ysh zig zsh").split(" "),
);

/** Words by which most interpreters take their program from the line, behind the letter too, or hand over to one. */
const INLINE =
  /^(?:-[A-Za-z]*[ceEpr](?:.*[^A-Za-z].*)?|-[mM].*[^\w:].*|--(?:command|eval|print|exec|execute|run|require|import|script|load|batch)(?:=.*)?|-(?:e|c)=.*|eval|exec|x)$/;

/** Whether a program runs whatever words follow it. */
export function isRunner(name: string): boolean {
  return known(name, (program) => runners.has(program) || /^ld(?:-linux|-musl|\.so|64\.so)/.test(program));
}

/** Whether a program runs a text, file or target it is given; harmless only when that is named. */
export function isInterpreter(name: string): boolean {
  return known(name, (program) => interpreters.has(program));
}

/** Whether these words make the program evaluate text of theirs, so that they say little about what runs. */
export function evaluates(name: string, words: readonly string[]): boolean {
  return known(name, (program) => {
    if (program === "git") return gitEvaluates(words);
    if (program === "sed" || program === "gsed") return sedEvaluates(words);
    const options = inlineOptions.get(program);
    if (options) return words.some((word) => options.test(word));
    return interpreters.has(program) && (words.length === 0 || words.some((word) => INLINE.test(word)));
  });
}

/**
 * Whether the words of a prefix leave open what an interpreter runs: only options, a single word that takes a program, or a sub-command without the
 * name of what it is to run.
 */
export function leavesOpen(name: string, words: readonly string[]): boolean {
  const isOption = (word: string) => word.startsWith("-");
  if (words.every(isOption) || words.length === 1 && evaluates(name, words)) return true;
  return known(name, (program) => {
    const opener = openers.get(program);
    const last = opener ? words.findLastIndex((word) => opener.test(word)) : -1;
    return last >= 0 && words.slice(last + 1).every(isOption);
  });
}

/** Asks about a name as it is and without its version: `Python3.11` is `python`. */
function known(name: string, is: (program: string) => boolean): boolean {
  const lower = name.toLowerCase().replace(/\.exe$/, "");
  const bare = lower.replace(/[-\d.]+$/, "");
  return is(lower) || bare !== lower && bare !== "" && is(bare);
}
