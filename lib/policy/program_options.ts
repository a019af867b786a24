/**
 * By which of their words programs run something that the words do not name, or that only a further word would name. Two tables by program, each
 * about any word of the command. Long options are matched from their shortest form on, since most programs take abbreviations. What is
 * matched too much costs a question; what is missing costs a rule that is wider than it looks. Proven by `shell_line_test.ts`.
 */

const words = (text: string) => text.trim().split(/\s+/);

/** Rows of programs that share a pattern. */
function table(rows: readonly (readonly [programs: string, options: RegExp])[]): ReadonlyMap<string, RegExp> {
  return new Map(
    rows.flatMap(([programs, options]) => words(programs).map((name) => [name, options] as const)),
  );
}

/** Takes everything as a program: what its words say is not told apart here. */
const ALWAYS = /^/;

/** With these words a program evaluates a text, runs what it finds, or hands over to another program. */
export const inlineOptions: ReadonlyMap<string, RegExp> = table([
  [
    "awk gawk mawk nawk original-awk expect gdb lldb dc m4 psql mysql mariadb tmux screen socat nc ncat",
    ALWAYS,
  ],
  [
    "ed emacs emacsclient guile sbcl clisp racket octave gnuplot erl iex ghci jshell ansible vagrant",
    ALWAYS,
  ],
  [
    "docker podman nerdctl",
    /^(?:run|exec|create|build|buildx|compose|plugin|machine|-[Hc].*|--(?:host|config|context|entry|url).*)$/,
  ],
  ["kubectl", /^(?:exec|run|debug|attach|plugin|edit|proxy|--(?:kubec|exec).*)$/],
  // Build tools: another build file, another shell, variables that name programs, plug-ins.
  ["make gmake bmake", /^(?:-[A-Za-z]*[fCEI].*|--(?:f|mak|dir|ev|inc).*|[A-Za-z_]\w*[:+?!]{0,3}=.*)$/],
  ["ninja samu", /^-[A-Za-z]*[fCt].*$/],
  ["cmake", /^(?:-[PECD].*|--build|--install|--open|--pre.*|--tool.*)$/],
  ["cargo", /^(?:-[ZC].*|--(?:config|manifest-path).*|miri|install)$/],
  ["go", /^(?:generate|env|--?(?:exec|toolexec|vettool|overlay|modfile|ldflags|gcflags)(?:=.*)?|-C.*)$/],
  [
    "gradle gradlew",
    /^(?:-[IbcpDP].*|--(?:init|build-f|settings|project-d|project-p|system-p|include-b).*)$/,
  ],
  ["mvn mvnw mvnd", /^(?:.*:.*|-[DfsgPlt].*|--(?:def|file|set|glo|too).*)$/],
  ["ant", /^(?:-(?:f|file|buildfile|lib|D.*|logger|listener|main|propertyfile|inputhandler)|-{1,2}.*=.*)$/],
  [
    "dotnet msbuild",
    /^(?:exec|fsi|script|msbuild|watch|tool|(?:-{1,2}|\/)(?:p|property|l|logger|dl|t|target)[:=].*|@.*)$/,
  ],
  [
    "java",
    /^(?:-javaagent.*|-agent.*|-XX:.*|-Xbootclasspath.*|@.*|-{1,2}(?:cp|classpath|class-path|module-path|p|m|module|source)(?:=.*)?)$/,
  ],
  ["javac kotlinc scalac", /^(?:@.*|-J.*|-{1,2}(?:processor|Xplugin|script|plugin).*)$/],
  ["rake", /^(?:-[feErRIpP].*|--(?:rakef|exec|req|lib|rakelib).*)$/],
  ["just", /^(?:-[fdc].*|--(?:justf|work|com|shell|set|choose|edit).*|[A-Za-z_]\w*=.*)$/],
  ["task", /^(?:-[tdg].*|--(?:tas|dir|glo).*|[A-Za-z_]\w*=.*)$/],
  ["bazel bazelisk buck buck2", /^(?:run|--run_under.*|--.*rc=.*|--.*_(?:command|launcher).*)$/],
  ["mix", /^(?:run|eval|cmd|do|escript.*|archive.*|-[er].*|--(?:eval|require).*)$/],
  ["tox nox invoke inv fab", /^(?:exec|-[cfxr].*|--(?:conf|noxf|over|devenv|root|search|col).*)$/],
  // Managers of packages and environments that run a command for their caller.
  [
    "poetry pipenv pdm hatch rye uv conda mamba micromamba pixi bundle bundler direnv asdf mise rbenv pyenv nvm volta nix nix-shell",
    /^(?:run|exec|shell|x|develop|-[ecC]|--(?:command|expr|directory|project|run).*)$/,
  ],
  [
    "npm npx pnpm pnpx yarn bun bunx",
    /^(?:exec|x|dlx|explore|create|init|-[ecpr]|-C.*|--(?:call|eval|print|exec|package|prefix|script-shell|shell-mode|preload|require|import|cwd|dir|config).*|config|set|set-script|pkg)$/,
  ],
  [
    "deno",
    /^(?:eval|repl|x|-[ecr]|--(?:eval|require|import|preload|config|import-map|node-modules-dir)(?:=.*)?)$/,
  ],
  ["gem", /^(?:exec|-[ECe].*|--config-file.*)$/],
  // Editors, pagers and viewers.
  [
    "vi vim nvim view ex vimdiff rvim",
    /^(?:\+.*|-[cSsuUwWeEil].*|--(?:cmd|remote|server|listen|embed|headless|startup).*)$/,
  ],
  ["less more most pg", /^(?:\+.*|-[kKoO].*|--(?:lesskey|log|LOG|shell|init|cmd).*)$/],
  ["man", /^(?:-[PHCpTZ].*|--(?:pager|html|browser|config|prepro|troff|gxditview).*)$/],
  // Tools of files that hand a part of their work to another program.
  ["find gfind", /^-(?:exec|execdir|ok|okdir|delete|fprint\w*|fls)$/],
  ["fd fdfind", /^(?:-[A-Za-z]*[xX].*|--exec.*)$/],
  ["rg", /^--(?:pre|host).*$/],
  ["ag ack", /^(?:--(?:pager|ackrc|create|env).*|-x)$/],
  ["tar gtar bsdtar", /^(?:-?[A-Za-z]*[IF].*|--(?:checkpoint-a|to-c|us|rsh|rmt|info|new-v).*)$/],
  ["rsync", /^(?:-[A-Za-z0-9]*e.*|--(?:rsh|rsync-p|daemon|config|write-b).*)$/],
  ["scp sftp", /^-[A-Za-z0-9]*[SoFDJ].*$/],
  ["zip", /^(?:-[A-Za-z]*T.*|--(?:unzip|test).*)$/],
  ["sort", /^--com.*$/],
  ["split gsplit", /^--f.*$/],
  ["wget", /^(?:-e.*|--(?:exec|use-ask|conf|input-m).*)$/],
  ["curl", /^(?:-[A-Za-z]*K.*|--(?:conf|eng|netrc-f).*)$/],
  [
    "sqlite3",
    /^(?:-(?:cmd|init|A.*)|--?(?:cmd|init)|.*\.(?:shell|system|sh|sy|excel|once|output|import|load|read|dump|edit).*|.*(?:load_extension|edit|writefile|fts3_tokenizer)\s*\(.*)$/is,
  ],
  ["pandoc", /^(?:-[FLHd].*|--(?:filter|lua|pdf-e|def|data-d).*)$/],
  [
    "tex latex pdflatex xelatex lualatex luatex context latexmk",
    /^(?:-{1,2}(?:shell|enable-w|write18|lua|e|r|usepretex|pdflatex|latex|cnf).*|.*\\.*)$/,
  ],
  ["groff troff nroff", /^(?:-[A-Za-z]*[US].*|-[mMFI].*)$/],
  ["rpm rpmbuild", /^(?:-[A-Za-z]*[EeDU].*|--(?:ev|pipe|def|load|mac|rcf).*)$/],
  ["apt apt-get dpkg", /^(?:-[oc].*|--(?:opt|config|pre-|post-|hook).*)$/],
  ["tcpdump", /^-[A-Za-z]*z.*$/],
  ["ip", /^(?:exec|-b.*|-force)$/],
  ["hg", /^(?:--conf.*|--tool.*|--ssh.*|--remotecmd.*|-e.*|serve|bisect)$/],
  ["svn", /^--(?:diff|editor|config|merge).*$/],
  ["jj", /^(?:--config.*|--tool.*|util)$/],
  ["gh glab", /^(?:alias|extension|ext|api|codespace)$/],
  ["helm", /^(?:--post-r.*|plugin)$/],
  ["terraform tofu", /^(?:apply|console|-chdir.*|-var.*|-plugin.*)$/],
  ["pytest py.test", /^(?:-[cpo].*|--(?:conf|rootd|over|pyargs|pdbcls|import-m|pastebin|trace).*)$/],
  ["gcc cc clang tcc", /^(?:-(?:wrapper|fplugin|specs|B|Xclang|load).*|@.*)$/],
  ["openssl", /^-(?:engine|provider|provider-path|config|load|module).*$/],
  ["gpg", /^--?.*(?:-program|-filter|options|homedir|use-agent|exec-path).*$/],
  ["ssh-keygen ssh-add", /^-[A-Za-z]*[DPwsS].*$/],
  ["xdg-open open start", ALWAYS],
  // Words that these evaluate as a name with an index, in which a command may stand.
  ["test [ printf", /^-[vR]/],
]);

/** Sub-commands that run, or install, what the next word names: a rule has to name that too. */
export const openers: ReadonlyMap<string, RegExp> = table([
  [
    "npm pnpm yarn bun",
    /^(?:run|run-script|rum|urn|workspaces?|install|i|add|link|-w|--filter|--workspace)$/,
  ],
  ["deno", /^(?:run|task|serve|test|bench|install|add|compile|jupyter)$/],
  ["go", /^(?:run|tool|install|get)$/],
  ["cargo", /^(?:run|r|add|bench|script|xtask)$/],
  ["java", /^-jar$/],
  ["dotnet", /^(?:run|add|new|nuget)$/],
  ["pip pipx gem brew apt apt-get", /^(?:install|add|run|runpip|download|wheel)$/],
  ["zig nim crystal dart flutter v swift stack cabal", /^(?:run|r|exec|c|compile|test)$/],
  ["python pypy php ruby perl node", /^-m$/],
]);
