#!/usr/bin/env bash
# Sets up JupyterLab with a Go kernel that knows this project, in .nodemask/lab/: a Python environment pinned by hash in
# requirements.txt beside this file, and gonb, goimports and gopls from tools/lab/go.mod. XLA comes from scripts/setup.sh.
#
#   PYTHON=python3.12   the Python to make the environment with (default: the first that is 3.10 or newer)
#
#   FIRST_PAGE=1        write reports/index.html as soon as Python is there, if it is not there yet
#   PAGES_ALONE=1       leave gopls out, by which JupyterLab completes names
#
# Each part leaves a note of what it was made from when it has finished, and is done again only when that has changed.
# Parts that wait for the network and parts that compile run side by side.
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
    local what=$1 log
    shift
    log=$scratch/${what//[^a-zA-Z]/-}
    "$@" >"$log" 2>&1 && return
    local reason
    # 'go run' ends what failed with a line of its own.
    reason=$(grep -m1 -E '^(ERROR|go: |error)' "$log" || grep -v '^exit status ' "$log" | tail -n1)
    stop "$what: ${reason#ERROR: }"
}

# part runs one part of the set-up beside the others. What took a while is reported when it is done, with what is left.
part() {
    local name=$1 start=$SECONDS
    shift
    : >"$scratch/left/$name"
    (
        trap '(($? == 0)) || kill -USR1 $$' EXIT # it has said why: the others need not go on
        "$@"
        rm "$scratch/left/$name"
        left=$(cd "$scratch/left" && find . -type f | sed 's|^[.]/||' | sort | paste -sd, - | sed 's/,/, /g')
        ((SECONDS - start < 5)) || say "$name: done after $((SECONDS - begun)) s${left:+, left: $left}"
    ) </dev/null &
    parts+=($!)
}

# finish waits for all parts. They are process groups of their own: an interrupt ends what they have started, too.
finish() {
    local pid
    for pid in "${parts[@]}"; do wait "$pid" || exit 1; done
    parts=()
}

clean() {
    local pid
    [[ ${#parts[@]} == 0 ]] || exec 2>/dev/null # bash would print each part that is ended
    for pid in ${parts[@]+"${parts[@]}"}; do kill -- "-$pid" 2>/dev/null || true; done
    rm -rf "$scratch"
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

python_is_installed() { cmp -s scripts/lab/requirements.txt "$lab/installed" && "$lab/bin/python" -c '' 2>/dev/null; }

install_python() {
    [[ ! -e $lab ]] || return 0
    find_python
    step "no Python environment can be made" "$python" -m venv "$lab"
    PIP_USER=0 step "pip cannot install JupyterLab; run it again" "$lab/bin/python" -m pip install --quiet --disable-pip-version-check \
        --require-hashes --only-binary=:all: -r scripts/lab/requirements.txt
    echo "$PWD" >"$lab/folder"
    cp scripts/lab/requirements.txt "$lab/installed"
}

# With Python there, people have something to read while the rest is made.
first_page() {
    [[ -n ${FIRST_PAGE:-} && ! -e reports/index.html ]] || return 0
    step "the first page cannot be written" scripts/reports/run.sh --unrun
    say "to read meanwhile: $PWD/reports/index.html ($((SECONDS - begun)) s)"
}

python_and_first_page() {
    install_python
    first_page
}

# in_background leaves the processors to what fetches, so that the first page does not wait for compilers.
# The process that sh has as its parent is the part's own: bash 3.2, as on macOS, has no BASHPID.
in_background() { renice -n 10 -p "$(exec sh -c 'echo "$PPID"')" >/dev/null 2>&1 || true; }

# sizes lists how large the tools are: truncated ones are rebuilt.
sizes() {
    local tool
    for tool in "$@"; do wc -c 2>/dev/null <"$lab/${tool%%:*}/${tool##*/}" || echo none; done
}

# The tools are built in a module of their own, so that what they need never changes what nodemask is built with. Where
# gonb looks for goimports and go there is scripts/lab/cell, which calls them. gopls, by which kernel.py completes names,
# has a folder of its own, where gonb does not find it.
kernel=(bin:github.com/janpfeifer/gonb tools:golang.org/x/tools/cmd/goimports)
editor=(gopls:golang.org/x/tools/gopls)

# build_tools NAME TOOL... builds tools that are not there, or of other versions.
build_tools() {
    local name=$1
    shift
    in_background
    { echo "$@" "$GOFLAGS" && cat tools/lab/go.mod tools/lab/go.sum && go version; } >"$scratch/$name"
    { cat "$scratch/$name" && sizes "$@"; } | cmp -s - "$lab/$name-installed" && return
    mkdir "$scratch/$name-built"
    CGO_ENABLED=0 GOWORK=off step "${1##*/} cannot be built" \
        go -C tools/lab build -ldflags=-w -o "$scratch/$name-built/" "${@#*:}"
}

# install_tools NAME TOOL... puts what was built into the environment, once that is there.
install_tools() {
    local name=$1 tool
    shift
    [[ -d $scratch/$name-built ]] || return 0
    for tool in "$@"; do
        mkdir -p "$lab/${tool%%:*}"
        mv "$scratch/$name-built/${tool##*/}" "$lab/${tool%%:*}/"
    done
    { cat "$scratch/$name" && sizes "$@"; } >"$scratch/$name-installed"
    mv "$scratch/$name-installed" "$lab/$name-installed"
}

# A cold build cache makes the first cell of a notebook take over a minute. What trains for cells is built as
# nb/worker would build it; what cells import is compiled as they would be.
compile() {
    in_background
    GOWORK=off step "nodemask cannot be built" \
        go run ./scripts/build .nodemask/bin/nodemask ./cmd/nodemask -buildvcs=false -ldflags=-s
    step "nodemask cannot be built" go build ./nb/... ./aggtree/... ./nmgnn/... ./paper/...
}

# build_helpers is quick once the rest is compiled.
build_helpers() {
    CGO_ENABLED=0 step "the kernel's helper cannot be built" \
        go run ./scripts/build "$lab/bin/goimports" ./scripts/lab/cell -ldflags=-s
    ln -f "$lab/bin/goimports" "$lab/bin/go"
}

command -v go >/dev/null || stop "go was not found: install Go 1.26.5 or newer from https://go.dev/dl"
CGO_ENABLED=${CGO_ENABLED:-$(scripts/cgo.sh)}
# All is built with the same flags, those of internal/gobuild and the Makefile, so that nothing is compiled twice.
GOFLAGS="-trimpath -tags=netgo,osusergo"
export CGO_ENABLED GOFLAGS
# Without debugging data a cell links in half the time, and without the C library's resolver of host names (the tags) a
# sixth faster again, if nothing else in it is C. Where the clone is, only the linker is told.
cells="-buildvcs=false $GOFLAGS '-ldflags=-s \"-X=nodemask/internal/checkout.built=$PWD\"'"
mkdir -p .nodemask
# Two set-ups at once would write into one folder: the second waits. What one that was killed has left goes; 0.3 called it tmp.
if command -v flock >/dev/null; then
    exec 9>.nodemask/lab.lock
    # Without locks, as on some network file systems, nothing is swept, and one set-up at a time may run.
    if flock 9; then rm -rf .nodemask/lab-setup.* .nodemask/tmp.*; fi
fi
scratch=$PWD/.nodemask/lab-setup.$$
parts=() begun=$SECONDS
rm -rf "$scratch" && mkdir -p "$scratch/left"
trap clean EXIT
trap 'exit 1' USR1
trap 'exit 130' INT
trap 'exit 143' TERM

python_is_installed || rm -rf "$lab"
[[ -e $lab ]] || say "setting up XLA, JupyterLab and the Go kernel in .nodemask, and compiling, once: some minutes"
set -m
part "XLA" scripts/setup.sh
part "JupyterLab" python_and_first_page
part "Go modules" step "Go modules cannot be fetched" go mod download # the kernel never downloads one
part "nodemask" compile
part "the Go kernel" build_tools kernel "${kernel[@]}"
[[ -n ${PAGES_ALONE:-} ]] || part "gopls" build_tools gopls "${editor[@]}"
finish
set +m
install_tools kernel "${kernel[@]}"
[[ -n ${PAGES_ALONE:-} ]] || install_tools gopls "${editor[@]}"
build_helpers
"$lab/bin/python" scripts/lab/register.py "$lab" "$PWD" "$(go env GOROOT)/bin" "$CGO_ENABLED" "$cells"
