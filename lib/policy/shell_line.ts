/**
 * What a command line would run, as far as that can be read without running it. `bash -c "<script>"` of plain words joined by `&&`, `||`, `;`, `|`
 * or line breaks is split into its commands; anything that a shell would expand, redirect or evaluate makes the line unreadable, and so does a
 * program that runs other words (`env`, `xargs`, `eval`, `python -c`). Rules about commands then meet it only where they are strict. It errs
 * on the side of *unreadable*. Proven by `shell_line_test.ts`.
 */
import { evaluates, isRunner } from "./programs.ts";

/** The commands of a line in order, or `unreadable`. */
export type ShellLine = readonly (readonly string[])[] | "unreadable";

const SHELLS: ReadonlySet<string> = new Set(["bash", "sh", "zsh", "dash", "ash", "ksh"]);
/** Their scripts are read; in those of the others plain words mean more (`=rm`, `- rm`, `noglob rm` of zsh). */
const READ: ReadonlySet<string> = new Set(["bash", "sh", "dash", "ash"]);
/** Words that make a shell do something else than run the program of that name. */
const RESERVED: ReadonlySet<string> = new Set(
  (". [[ alias bind builtin case cd command compgen complete compopt coproc declare do done elif else enable esac eval exec export fc fi for " +
    "function getopts hash history if jobs let local mapfile popd pushd read readarray readonly select set shopt source then time trap typeset " +
    "unalias unset until wait while").split(
      " ",
    ),
);
/** More commands than anybody reads in a line. */
const MAX_COMMANDS = 64;
const PLAIN = /[A-Za-z0-9_\-./,:+@%^]/;
const LETTER = /[\p{L}\p{M}\p{N}]/u;
/** In double quotes these still mean something to a shell. */
const LIVE_IN_QUOTES = /[$`\\!]/;

/** Reads what `argv` would run. */
export function shellLine(argv: readonly string[]): ShellLine {
  const [program = "", flag = "", script, ...more] = argv;
  const name = baseName(program);
  if (!SHELLS.has(name)) return checked([argv]);
  if (!READ.has(name) || !/^-[lc]*c$/.test(flag) || script === undefined || more.length > 0) {
    return "unreadable";
  }
  const commands = split(script);
  return commands === undefined ? "unreadable" : checked(commands);
}

/** The last component of a program's path. */
export function baseName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

function checked(commands: readonly (readonly string[])[]): ShellLine {
  const readable = commands.length > 0 && commands.length <= MAX_COMMANDS &&
    commands.every(([program = "", ...words]) => {
      const name = baseName(program);
      return name !== "" && !RESERVED.has(program) && !isRunner(name) && !SHELLS.has(name) &&
        !evaluates(name, words);
    });
  return readable ? commands : "unreadable";
}

/** Splits a script into commands of words; undefined when it holds anything but plain and quoted words and connectors. */
function split(script: string): string[][] | undefined {
  const commands: string[][] = [];
  let words: string[] = [];
  let at = 0;
  const endCommand = () => {
    if (words.length === 0) return false;
    commands.push(words);
    words = [];
    return true;
  };
  while (at < script.length) {
    const blank = /^[ \t]+/.exec(script.slice(at, at + 1_000));
    if (blank) {
      at += blank[0].length;
      continue;
    }
    const connector = /^(?:&&|\|\||;|\||\n+)/.exec(script.slice(at, at + 1_000))?.[0];
    if (connector !== undefined) {
      const breaks = connector.startsWith("\n");
      // `|&`, `;;` and `&` alone are other things than connectors.
      if (/[&|;]/.test(script[at + connector.length] ?? "") && !breaks) return undefined;
      if (!endCommand() && !breaks) return undefined;
      at += connector.length;
      // After `&&`, `||` and `|` something has to follow; after `;` nothing must.
      if ((connector === "&&" || connector[0] === "|") && /^\s*$/.test(script.slice(at))) return undefined;
      continue;
    }
    const word = readWord(script, at);
    if (!word || words.length === 0 && /^[A-Za-z_]\w*=/.test(word.text)) return undefined;
    words.push(word.text);
    at = word.end;
  }
  endCommand();
  return commands;
}

/** One word from plain characters and quoted pieces. */
function readWord(
  script: string,
  start: number,
): { readonly text: string; readonly end: number } | undefined {
  let text = "";
  let at = start;
  for (;;) {
    const character = script[at];
    if (character === undefined || /[ \t\n;&|]/.test(character)) {
      return at === start ? undefined : { text, end: at };
    }
    if (character === "'" || character === '"') {
      const close = script.indexOf(character, at + 1);
      if (close < 0) return undefined;
      const inner = script.slice(at + 1, close);
      if (character === '"' && LIVE_IN_QUOTES.test(inner)) return undefined;
      text += inner;
      at = close + 1;
    } else if (PLAIN.test(character) || character === "=" || LETTER.test(character)) {
      text += character;
      at++;
    } else {
      return undefined;
    }
  }
}
