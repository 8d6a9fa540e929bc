#!/usr/bin/env bash
# Compiles nodemask's programs for GPUs that are not there, and holds what XLA makes of them to bounds.tsv. Fetches XLA's CUDA plugin, ptxas and
# libdevice (256 MB, pinned with what CUDA=1 make setup installs) into .nodemask/gpu-check, once. No GPU and no driver are needed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=.nodemask/gpu-check
say() { echo "gpu-check: $*" >&2; }

if [[ $(uname -sm) != "Linux x86_64" || ${CGO_ENABLED:-$(scripts/cgo.sh)} != 1 ]]; then
    say "skipped: it needs Linux on x86-64 and a C compiler"
    exit 0
fi
pins=$(for p in jax-cuda13-pjrt nvidia-cuda-nvcc nvidia-nvvm; do grep -A1 "^$p==" scripts/pjrt-cuda.requirements.txt; done)
if [[ $(cat $folder/installed 2>/dev/null) != "$pins" ]]; then
    rm -rf $folder $folder.part
    mkdir -p $folder.part
    echo "$pins" >$folder.part/installed
    say "fetching XLA's compiler for GPUs (256 MB), once"
    if ! PIP_USER=0 python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes --only-binary=:all: --retries 2 \
        --target $folder.part/wheels -r $folder.part/installed >$folder.part/log 2>&1; then
        if grep -q 'DO NOT MATCH THE HASHES' $folder.part/log; then
            say "what was fetched is not what scripts/pjrt-cuda.requirements.txt pins (its hash differs)"
            exit 1
        fi
        say "skipped: pip could not fetch it: $(grep -m1 '^ERROR' $folder.part/log || tail -n1 $folder.part/log)"
        exit 0
    fi
    mv $folder.part $folder
fi
cuda=$PWD/$folder/wheels/nvidia/cu13
api=$(go list -m -f '{{.Dir}}' github.com/gomlx/go-xla)/pjrt
gcc -O1 -Wall -o $folder/compile -I "$api" nmgnn/internal/gpucheck/compiler/compile.c -ldl
go run ./scripts/build .nodemask/bin/gpucheck ./nmgnn/internal/gpucheck # in a bin/, by which it finds the plugin for the CPU
exec .nodemask/bin/gpucheck -compiler "$PWD/$folder/compile $PWD/$folder/wheels/jax_plugins/xla_cuda13/xla_cuda_plugin.so" -cuda "$cuda" -scripts nmgnn/internal/gpucheck "$@"
