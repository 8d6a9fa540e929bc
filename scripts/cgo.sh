#!/usr/bin/env bash
# Prints 1 if cgo works here, else 0. Go only looks whether a C compiler is there; one without its headers fails later.
set -euo pipefail

cc=$(go env CC 2>/dev/null) || cc=cc
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=$'#include <stdlib.h>\n#include <dlfcn.h>\nint main(void) { return dlopen(0, RTLD_LAZY) == 0; }'
# $cc may hold flags, as in CC="gcc -m64".
# shellcheck disable=SC2086
if printf '%s\n' "$program" | $cc -x c - -o "$scratch/program" -ldl 2>/dev/null; then echo 1; else echo 0; fi
