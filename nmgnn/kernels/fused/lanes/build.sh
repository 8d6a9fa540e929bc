#!/usr/bin/env bash
# Makes lanes.wasm of lanes.c, with the clang in the Python package ziglang. Run it in this folder; it needs a network the first time.
set -euo pipefail
version=0.13.0
tools=${TMPDIR:-/tmp}/nodemask-ziglang-$version
[ -d "$tools" ] || { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet "ziglang==$version"; }
"$tools/bin/python" -m ziglang cc -target wasm32-freestanding -mcpu=generic+simd128 -Os -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -ffp-contract=off -fno-builtin -nostdlib -Wall \
	-Wno-unused-function -Wl,--no-entry,--import-memory,--strip-all -x c lanes.c -o lanes.wasm
