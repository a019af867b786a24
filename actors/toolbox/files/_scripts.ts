/**
 * The scripts that touch files, run by bash inside the sandbox. Each first enters the folder without following anything and asks the
 * kernel where it stands: from then on the folder is held by its inode, so a link that is swapped in later cannot lead away.
 */

/** Exit codes of the scripts. */
export const codes = { missing: 44, directory: 45, special: 46, moved: 47, large: 48, failed: 49 } as const;

const ENTER = `
enter() { cd -P -- "$1" 2>/dev/null && [ "$(pwd -P)" = "$2" ]; }
`;

/** Arguments: folder, name, largest size in bytes. Prints the content. */
export const READ = `${ENTER}
enter "$1" "$1" || exit 47
[ -L "./$2" ] && exit 47
[ -e "./$2" ] || exit 44
[ -d "./$2" ] && exit 45
[ -f "./$2" ] || exit 46
exec 4<"./$2" || exit 49
[ "$(readlink /proc/self/fd/4)" = "$1/$2" ] || exit 47
[ "$(stat -Lc %s /proc/self/fd/4)" -le "$3" ] || exit 48
cat <&4
`;

/**
 * Arguments: existing folder, name, SHA-256 that must be there now (\`-\` for nothing), missing folders to make. Standard input is the content.
 * It is written beside the target and renamed over it, so that nobody ever reads half a file.
 */
export const WRITE = `${ENTER}
dir=$1 name=$2 expected=$3
shift 3
enter "$dir" "$dir" || exit 47
for part in "$@"; do
  mkdir -- "./$part" 2>/dev/null
  dir=$dir/$part
  enter "./$part" "$dir" || exit 47
done
[ -L "./$name" ] && exit 47
if [ "$expected" = - ]; then
  [ ! -e "./$name" ] || exit 47
else
  [ -f "./$name" ] && sum=$(sha256sum <"./$name") && [ "\${sum%% *}" = "$expected" ] || exit 47
fi
temp=$(mktemp ./.callboard.XXXXXXXX) || exit 49
trap 'rm -f -- "$temp"' EXIT
if [ "$expected" = - ]; then chmod 644 -- "$temp"; else chmod --reference="./$name" -- "$temp"; fi || exit 49
cat >"$temp" && mv -fT -- "$temp" "./$name" || exit 49
`;

/** Arguments: folder, depth, most entries. Prints type, size and path of each entry, NUL-terminated, links not followed. */
export const LIST = `${ENTER}
enter "$1" "$1" || exit 47
entry='%y %s %P\\0'
find . -mindepth 1 -maxdepth "$2" \\( -name .git -prune -printf "$entry" \\) -o -printf "$entry" | head -z -n "$3"
`;
