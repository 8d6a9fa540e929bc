#!/usr/bin/env bash
# Makes lanes.wasm of lanes.c, with the clang in the Python package ziglang, which it fetches the first time.
set -euo pipefail
cd "$(dirname "$0")"
version=0.13.0
tools=${TMPDIR:-/tmp}/nodemask-ziglang-$version
[ -d "$tools" ] || { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet "ziglang==$version"; }
clang() {
	"$tools/bin/python" -m ziglang cc -target wasm32-freestanding -mcpu=generic+simd128 -Os -fno-vectorize -fno-slp-vectorize \
		-fno-unroll-loops -ffp-contract=off -fno-builtin -nostdlib -Wall "$@" -x c lanes.c
}
assembly=$(mktemp --suffix .s)
trap 'rm -f "$assembly"' EXIT
clang -S -o "$assembly"
if grep -q 'global\.get' "$assembly"; then
	echo "lanes.c needs a stack, which would lie in Go's memory" >&2
	exit 1
fi
clang -Wl,--no-entry,--import-memory,--strip-all -o lanes.wasm
