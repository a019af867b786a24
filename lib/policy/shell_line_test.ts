/** Proves which command lines can be read, and that whatever a shell would expand cannot. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { shellLine } from "./shell_line.ts";

const read = (script: string) => shellLine(["bash", "-c", script]);

Deno.test("plain words joined by connectors are split into commands", () => {
  assert.deepEqual(read("git status && ls -la src; cat 'a b' | grep \"x y\"\nwc -l"), [
    ["git", "status"],
    ["ls", "-la", "src"],
    ["cat", "a b"],
    ["grep", "x y"],
    ["wc", "-l"],
  ]);
  assert.deepEqual(read("ls;"), [["ls"]]);
  assert.deepEqual(read("/bin/rm -rf ''"), [["/bin/rm", "-rf", ""]]);
  assert.deepEqual(shellLine(["git", "log"]), [["git", "log"]]);
  assert.deepEqual(shellLine(["/bin/bash", "-lc", "pwd"]), [["pwd"]]);
});

for (
  const script of [
    "echo $HOME",
    "echo `id`",
    "echo $(id)",
    "(ls)",
    "{ ls; }",
    "ls > out",
    "cat < in",
    "cat <<X\nX",
    "ls &",
    "ls & rm x",
    "ls |& cat",
    "ls ;; ls",
    "ls &&",
    "&& ls",
    "A=1 ls",
    "ls *",
    "ls ?",
    "ls [ab]",
    "ls ~",
    "r\\m x",
    'echo "$x"',
    'echo "a\\"b"',
    "! ls",
    "# ls",
    "if true; then ls; fi",
    "eval rm x",
    "exec rm",
    "command rm x",
    "builtin echo",
    "source x",
    ". x",
    "cd /tmp && ls",
    "env rm x",
    "/usr/bin/env rm x",
    "sudo ls",
    "xargs rm",
    "timeout 5 rm x",
    "bash -c 'rm x'",
    "sh x.sh",
    "python3 -c 'x'",
    "python3",
    "node -e 'x'",
    "perl -pe x f",
    "find . -delete",
    "find . -exec rm",
    "git -c alias.x='!rm' x",
    "awk 'BEGIN{system(1)}'",
    "sed -i s/a/b/ f",
    "unterminated 'quote",
    "",
    "ls \u00a0",
    "ls\r",
    "\u0000",
  ]
) {
  Deno.test(`a line that says more than its words is unreadable: ${JSON.stringify(script)}`, () => {
    assert.equal(read(script), "unreadable");
  });
}

for (
  const [what, lines] of [
    [
      "wrappers",
      "nohup x; nice -n 5 x; ionice x; taskset 1 x; chrt 1 x; setarch x; runuser x; gosu a x; fakeroot x; strace x; entr x; " +
      "sshpass ssh x; ssh a x; ssh-agent x; rlwrap x; valgrind x; systemd-run x; proxychains4 x; ld-linux-x86-64.so.2 ./x; hyperfine x; dotenv x; " +
      "cross-env A=1 x; busybox x; parallel x; watch x; script x; flock f x; chroot . x; unshare x; perf stat x",
    ],
    [
      "interpreters",
      "Rscript -e x; julia -e x; perl -e x; ruby -e x; php -r x; lua5.4 -e x; groovy -e x; scala -e x; elixir -e x; node --eval x; " +
      "bun -e x; deno eval x; deno repl; tcsh -c x; fish -c x; xonsh -c x; pwsh -Command x -c; psql -c x; mysql -e x; m4 f; dc -e x; gdb -ex x; " +
      "python3 '-cimport os'; perl '-esystem(1)'; perl '-Mstrict;system(1)' f; lua '-eos.exit()'; php '-rexit(1)'; " +
      "lldb -o x; emacs --eval x; guile -c x; octave --eval x; gnuplot f; erl -eval x; nix-shell --run x; sqlite3 db '.shell id'",
    ],
    [
      "build tools",
      "make -f x; make -C x; make --eval=x; make SHELL=x; make CC=x; gmake -fx; ninja -f x; cmake -P x; cmake -E env x; cmake --build x; " +
      "cargo --config x build; cargo install x; go generate; go test -exec x; go build -toolexec=x; go vet -vettool x; gradle -I x; " +
      "./gradlew --init-script x; gradle -Dx=y; mvn exec:java; mvn -Dexec.executable=x verify; mvn -f x; ant -f x; dotnet exec x; " +
      "dotnet build -p:PreBuildEvent=x; dotnet fsi x; java -cp x Y; java -javaagent:x Y; java @args; java -XX:OnError=x Y; rake -f x; " +
      "just -f x; just -c x; task -t x; bazel run x; mix run x; tox -c x; nox -f x; pytest -p x; gcc -wrapper x a.c; gcc @args",
    ],
    [
      "package managers",
      "npm exec x; npx -c x; npm --script-shell=x run b; npm config set a b; pnpm dlx x; yarn exec x; bunx -p x y; poetry run x; " +
      "pipenv run x; uv run x; pdm run x; conda run x; bundle exec x; gem exec x; pixi run x; mise exec x; direnv exec . x; nix run x; nix develop -c x",
    ],
    [
      "options that take a program",
      "tar cf a --checkpoint-action=exec=x b; tar --checkpoint-act=exec=x -cf a b; tar xf a --to-command=x; tar -I x -xf a; " +
      "tar cIf x a b; tar --use-compress-program=x -xf a; tar -cF x -f a b; rsync -e x a b; rsync -ave x a b; rsync --rsh=x a b; rsync --rsync-path=x a b; " +
      "scp -S x a b; scp -oProxyCommand=x a b; zip -T -TT x a.zip b; sort --compress-program=x a; split --filter=x a; wget --use-askpass=x a; curl -K x; " +
      "fd -x x; fd --exec x; rg --pre x a; ack --pager=x a; find . -execdir x; find . -okdir x; find . -fprintf f x; tcpdump -z x; ip netns exec a x; " +
      "pandoc --filter x a; pandoc -F x a; pdflatex --shell-escape a; latexmk -e x; openssl req -engine x; rpm --eval x; dpkg --pre-invoke=x; " +
      "apt-get -o x y; hg --config x y; svn diff --diff-cmd x; jj --config=x st; gh alias set x y; helm install --post-renderer x; kubectl exec a x; " +
      "docker run a x; test -v 'a[\$(x)]'; '[' -v 'a[\$(x)]' ']'; printf -v 'a[\$(x)]' b",
    ],
    [
      "editors and pagers",
      "vim +x f; vim -c x f; nvim --cmd x; vi -S x f; ex -s f; ed f; emacsclient -e x; less +x f; less -k x f; more +x f; man -P x ls; " +
      "man --pager=x ls; man -H x ls",
    ],
    [
      "sed",
      "sed e; sed 1e f; sed 's/a/b/e' f; sed 's/a/b/eg' f; sed 's/a/b/w f' f; sed -n 'w f' f; sed -e p f; sed -i p f; sed -f x f; sed -ni p f; " +
      "sed --in-place p f; sed 'p;e' f; sed '/a/e x' f; sed p f -i; sed 's/a/b/;w f' f; sed --exp=e f; sed 'r f' g",
    ],
    ["awk", "awk '{system(1)}'; gawk -f x; mawk 'BEGIN{}'; nawk x"],
    [
      "git",
      "git -c a=b status; git -C x -c a=b status; git --config-env=a=b status; git --exec-path=x status; git grep -Ox a; git grep -nOx a; " +
      "git grep --open-files-in-pager=x a; git grep --op=x a; git fetch --upload-pack=x; git fetch --upl=x; git fetch -u; git push --receive-pack=x; " +
      "git push --exec=x; git clone -u x a; git clone -c a=b c; git clone --config=a=b c; git clone --template=x c; git clone 'ext::x'; " +
      "git archive --remote=x --exec=y a; git diff --ext-diff; git log --ext; git log --output=x; git log --textconv; git rebase -x y; git rebase --exec y; " +
      "git bisect run x; git submodule foreach x; git filter-branch x; git config alias.x y; git difftool -x y; git mergetool; git send-email x; " +
      "git daemon; git remote add x 'ext::y'; git help -w x; git merge -s x; git tag --gpg-sign=x --gpg=y",
    ],
    [
      "shell builtins that evaluate",
      "mapfile -C x a; readarray -C x a; complete -C x a; jobs -x y; read 'a[\$(x)]'; fc -e x; compgen -C x",
    ],
  ] as const
) {
  Deno.test(`a program that evaluates what it is given is unreadable: ${what}`, () => {
    for (const line of lines.split("; ")) {
      const script = line.replaceAll("\\", "");
      assert.equal(read(script), "unreadable", script);
    }
  });
}

Deno.test("the scripts of shells in which plain words mean more are not read", () => {
  for (const script of ["ls", "=rm x", "- rm x", "noglob rm x"]) {
    assert.equal(shellLine(["zsh", "-c", script]), "unreadable");
    assert.equal(shellLine(["/bin/ksh", "-c", script]), "unreadable");
  }
});

Deno.test("plain uses of the same programs can be read", () => {
  for (
    const line of [
      ...[
        "git status -s",
        "git log -3 --oneline",
        "git switch -c topic",
        "git commit -m words",
        "git push -u origin topic",
        "git diff HEAD",
      ],
      ...[
        "git -C sub status",
        "git grep -n word",
        "git clone https://example.org/a",
        "git rebase main",
        "git merge topic",
        "git fetch -p",
      ],
      ...[
        "cargo test --all",
        "cargo build --release",
        "go test ./...",
        "go build ./cmd/x",
        "go vet ./...",
        "npm run build",
        "npm test",
        "npm ci",
      ],
      ...[
        "pnpm install",
        "yarn build",
        "make",
        "make test",
        "make -j4 all",
        "mvn -q verify",
        "gradle test",
        "./gradlew build",
        "dotnet test",
      ],
      ...[
        "java -jar app.jar",
        "deno task ok",
        "deno fmt --check",
        "pip install requests",
        "python3 check.py",
        "node build.js",
        "ruby x.rb",
      ],
      ...[
        "tar czf a.tgz src",
        "tar -xzf a.tgz",
        "tar --exclude=x -cf a b",
        "rsync -av a b",
        "sort -u a",
        "split -l 5 a",
        "zip -r a.zip b",
        "fd word",
      ],
      ...[
        "rg -n word",
        "find . -name '*.ts' -type f",
        "less f",
        "man ls",
        "sed -n 1,5p f",
        "sed 's/a/b/g' f",
        "sed -E 's#a#b#' f",
        "sed '5q' f",
      ],
      ...[
        "curl -sS https://example.org",
        "docker ps -a",
        "kubectl get pods",
        "pytest -q tests",
        "gcc -O2 -o x a.c",
        "test -f a",
        "printf '%s' a",

        "openssl dgst -sha256 a",
      ],
    ]
  ) {
    assert.notEqual(read(line), "unreadable", line);
  }
});

Deno.test("words quoted for a shell come back as they were", () => {
  const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 10 }).filter((text) =>
    !text.includes("'")
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 5 }), (words) => {
      const script = ["ls", ...words.map((text) => `'${text}'`)].join(" ");
      assert.deepEqual(read(script), [["ls", ...words]]);
    }),
    { numRuns: 200 },
  );
});

Deno.test("a long line is read in time that grows with its length", () => {
  assert.equal(read("ls a;".repeat(64)).length, 64);
  assert.equal(read("ls a;".repeat(20_000)), "unreadable");
});
