#!/usr/bin/env bash
# Gives the module a path that 'go get' accepts, once the project has an address, all over this clone: imports, go.mod
# files, flags of the linker, notebooks, and what documents and tests say of them.
#
#   scripts/rename-module.sh example.org/nodemask      then look at 'git diff', run 'make test', and commit
#
# What is called nodemask otherwise (the command, folders, files' formats) stays. nmgnn/beam is a module of its own: its
# go.mod replaces this one by a folder above it, which whoever fetches it by its path does not see. Once there is a tag
# to require, let it require that.
set -euo pipefail
cd "$(dirname "$0")/.."

new=${1:-}
if [[ $# != 1 || ! $new =~ ^[a-z0-9.-]+\.[a-z]+(/[A-Za-z0-9._~-]+)+$ ]]; then
    echo "usage: scripts/rename-module.sh HOST/PATH, as in example.org/nodemask" >&2
    exit 2
fi
old=$(sed -n 's/^module //p' go.mod)
[[ $old != "$new" ]] || { echo "rename-module: the module is $new already"; exit 0; }

# A path in the module is one of these folders after its name, and its name follows a quote or a space: so bin/nodemask,
# .nodemask/lab and the like are not meant.
folders=$(git ls-files '*.go' | sed -n 's|/.*||p' | sort -u | paste -sd'|' -)
export OLD=$old NEW=$new FOLDERS="$folders|tools"
files=$(git grep -Il --fixed-strings "$old" -- '*.go' '*go.mod' '*.sh' '*.py' '*.ipynb' '*.md' '*.yml' Makefile \
    ':!results' ':!CHANGELOG.md')
while IFS= read -r file; do
    perl -pi -e '
        s{(?<![\w./~-])\Q$ENV{OLD}\E(?=/(?:(?:$ENV{FOLDERS})\b|"))}{$ENV{NEW}}g;
        s{^(\s+(?:\w+ )?")\Q$ENV{OLD}\E(?="$)}{$1$ENV{NEW}} if $ARGV =~ /\.go$|LIBRARY\.md$/;
        s{^`go get` does not work yet: point}{To use a clone, point};
        s{(-require |-replace )\Q$ENV{OLD}\E(?=[@=])}{$1$ENV{NEW}}g if $ARGV =~ /LIBRARY\.md$/;
        s{(?<=\bmodule )\Q$ENV{OLD}\E(?=$|/|"|\\n|\x27)}{$ENV{NEW}}g;
        s{(?<=\bmodule = ")\Q$ENV{OLD}\E(?=")}{$ENV{NEW}}g;
        s{(?<=^\t)\Q$ENV{OLD}\E(?= v0\.0\.0$)}{$ENV{NEW}} if $ARGV =~ /go\.mod$/;
        s{(?<=^replace )\Q$ENV{OLD}\E(?= =>)}{$ENV{NEW}} if $ARGV =~ /go\.mod$/;
    ' "$file"
done <<<"$files"
# shellcheck disable=SC2046
gofmt -w $(git diff --name-only -- '*.go')
echo "rename-module: $old is $new in $(git diff --name-only | wc -l) files"
