#!/usr/bin/env bash
# Checks what is about to be committed: gofmt, and go vet of the packages of staged Go files. To have git run it:
#   ln -s ../../scripts/pre-commit.sh .git/hooks/pre-commit
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"

# nmgnn/beam is a module of its own. Names of Go files have no spaces here.
files=$(git diff --cached --name-only --diff-filter=ACMR -- '*.go' ':!nmgnn/beam')
[[ -n $files ]] || exit 0
# shellcheck disable=SC2086
unformatted=$(gofmt -l $files)
if [[ -n $unformatted ]]; then
    echo "pre-commit: run gofmt -w on:" $unformatted >&2
    exit 1
fi
# shellcheck disable=SC2046
exec go vet $(for file in $files; do echo "./${file%/*}"; done | sort -u)
