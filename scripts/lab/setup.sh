#!/usr/bin/env bash
# Sets up JupyterLab with a Go kernel that knows this project, in .nodemask/lab/: a Python environment pinned by hash in
# requirements.txt beside this file, and gonb, goimports and gopls from tools/lab/go.mod. XLA comes from scripts/setup.sh.
#
#   PYTHON=python3.12   the Python to make the environment with (default: the first that is 3.10 or newer)
#
# Each step leaves a note of what it was made from when it has finished, and is done again only when that has changed.
set -euo pipefail
cd "$(dirname "$0")/../.."

lab=$PWD/.nodemask/lab

say() { echo "setup: $*" >&2; }

stop() {
    say "$*"
    exit 1
}

# step runs a command whose output is only of interest if it fails: then the last line that says why is shown.
step() {
    local what=$1
    shift
    "$@" >"$scratch/log" 2>&1 && return
    local reason
    # 'go run' ends what failed with a line of its own.
    reason=$(grep -m1 -E '^(ERROR|go: |error)' "$scratch/log" || grep -v '^exit status ' "$scratch/log" | tail -n1)
    stop "$what: ${reason#ERROR: }"
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.10}; do
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || continue
        "$candidate" -c 'import ensurepip, venv' 2>/dev/null && python=$candidate && return
        lacking=$candidate
    done
    [[ -z ${lacking:-} ]] || stop "$lacking has no venv to set JupyterLab up with: install python3-venv"
    stop "JupyterLab needs Python 3.10 or newer: install it${PYTHON:+, or set PYTHON to one that is}"
}

install_python() {
    cmp -s scripts/lab/requirements.txt "$lab/installed" && "$lab/bin/python" -c '' 2>/dev/null && return
    find_python
    say "installing JupyterLab in .nodemask/lab, once"
    rm -rf "$lab"
    step "no Python environment can be made" "$python" -m venv "$lab"
    PIP_USER=0 step "pip cannot install JupyterLab; run it again" "$lab/bin/python" -m pip install --quiet --disable-pip-version-check \
        --require-hashes --only-binary=:all: -r scripts/lab/requirements.txt
    echo "$PWD" >"$lab/folder"
    cp scripts/lab/requirements.txt "$lab/installed"
}

# sizes lists how large the tools are: truncated ones are rebuilt.
sizes() {
    local tool
    for tool in "$@"; do wc -c 2>/dev/null <"$lab/${tool%%:*}/${tool##*/}" || echo none; done
}

# The tools are built in a module of their own, so that what they need never changes what nodemask is built with. Where
# gonb looks for goimports and go there are cellimports and cellgo, which call them.
install_tools() {
    local tools=(bin:github.com/janpfeifer/gonb tools:golang.org/x/tools/cmd/goimports bin:golang.org/x/tools/gopls)
    { echo "${tools[@]}" && cat tools/lab/go.mod tools/lab/go.sum && go version; } >"$scratch/tools"
    { cat "$scratch/tools" && sizes "${tools[@]}"; } | cmp -s - "$lab/tools-installed" && return
    say "building the Go kernel, once"
    local tool name
    mkdir -p "$lab/tools"
    for tool in "${tools[@]}"; do
        name=${tool##*/}
        CGO_ENABLED=0 GOWORK=off step "${tool#*:} cannot be built" go -C tools/lab build -ldflags=-w -o "$scratch/$name" "${tool#*:}"
        mv "$scratch/$name" "$lab/${tool%%:*}/$name"
    done
    { cat "$scratch/tools" && sizes "${tools[@]}"; } >"$scratch/tools-installed"
    mv "$scratch/tools-installed" "$lab/tools-installed"
}

# A cold build cache makes the first cell of a notebook take over a minute; and the kernel never downloads a module. What
# trains for cells is built as internal/worker would build it.
warm_cache() {
    step "Go modules cannot be fetched" go mod download
    GOFLAGS=$flags step "nodemask cannot be built" go build ./nb/... ./aggtree/... ./nmgnn/... ./record/...
    GOFLAGS="-buildvcs=false -ldflags=-s" GOWORK=off step "nodemask cannot be built" go run ./scripts/build .nodemask/bin/nodemask ./cmd/nodemask
    CGO_ENABLED=0 step "cellimports cannot be built" go run ./scripts/build "$lab/bin/goimports" ./scripts/lab/cellimports -ldflags=-s
    CGO_ENABLED=0 step "cellgo cannot be built" go run ./scripts/build "$lab/bin/go" ./scripts/lab/cellgo -ldflags=-s
}

command -v go >/dev/null || stop "go was not found: install Go 1.26.5 or newer from https://go.dev/dl"
CGO_ENABLED=${CGO_ENABLED:-$(scripts/cgo.sh)}
export CGO_ENABLED
# What cells are built with. Without debugging data a cell links in half the time, and without the C library's resolver of
# host names a sixth faster again, if nothing else in it is C.
flags="-buildvcs=false -ldflags=-s -tags=netgo,osusergo"
mkdir -p .nodemask
# Two set-ups at once would write into one folder: the second waits. What one that was killed has left goes; 0.3 called it tmp.
if command -v flock >/dev/null; then
    exec 9>.nodemask/lab.lock
    # Without locks, as on some network file systems, nothing is swept, and one set-up at a time may run.
    if flock 9; then rm -rf .nodemask/lab-setup.* .nodemask/tmp.*; fi
fi
scratch=$PWD/.nodemask/lab-setup.$$
rm -rf "$scratch" && mkdir "$scratch"
trap 'rm -rf "$scratch"' EXIT

scripts/setup.sh
install_python
install_tools
warm_cache
"$lab/bin/python" scripts/lab/register.py "$lab" "$PWD" "$(go env GOROOT)/bin" "$CGO_ENABLED" "$flags"
