#!/usr/bin/env bash
# Installs XLA's PJRT plugins into .nodemask/, pinned and checked against the hashes in scripts/*.requirements.txt.
#
#   PJRT=cpu   the CPU plugin from PyPI (the default)
#   PJRT=cuda  the same, and the GPU plugin with NVIDIA's libraries: 2.5 GB (CUDA=1 means this too)
#   PJRT=none  nothing
#
# Without a plugin nodemask computes in pure Go, so a plugin that cannot be fetched by default is reported in one line, and set-up goes on.
# What was asked for by name is: then the exit code is 1.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=.nodemask
cpu=$folder/pjrt/pjrt_c_api_cpu_plugin.so
cuda=$folder/pjrt-cuda/pjrt_c_api_cuda_plugin.so
asked=${PJRT:-}
[[ ${CUDA:-} == 1 ]] && asked=cuda

say() { echo "setup: $*" >&2; }

# cannot says why a plugin cannot be had and what to do, and ends the set-up.
cannot() {
    if [[ -n $asked ]]; then
        say "$1"
        exit 1
    fi
    if [[ -e $cpu ]]; then say "$1. Going on with the plugin of an earlier set-up."; else say "$1. Going on without XLA, in pure Go."; fi
    exit 0
}

# find_pip finds a pip: the system's, or one in a virtual environment, since distributions may split pip off. The command
# is left in the array pip.
find_pip() {
    command -v python3 >/dev/null || cannot "python3 is not there to fetch the XLA plugin: install Python 3, then run 'make setup'"
    pip=(python3 -m pip)
    "${pip[@]}" --version >/dev/null 2>&1 && return
    pip=("$scratch/venv/bin/python" -m pip)
    python3 -m venv "$scratch/venv" >/dev/null 2>&1 && "${pip[@]}" --version >/dev/null 2>&1 && return
    cannot "this python3 has neither pip nor venv to fetch the XLA plugin with: install python3-pip or python3-venv, then run 'make setup'"
}

# fetch installs the wheels that the file $1 pins into the folder $2; $3 says what they are.
fetch() {
    find_pip
    say "fetching $3, once"
    PIP_USER=0 "${pip[@]}" install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes \
        --only-binary=:all: --retries 2 --target "$2" -r "$1" >"$scratch/log" 2>&1 && return
    if grep -q 'DO NOT MATCH THE HASHES' "$scratch/log"; then
        say "what was fetched is not what $1 pins (its hash differs), so nothing was installed: do not trust where it came from"
        exit 1
    fi
    local reason
    reason=$(grep -m1 '^ERROR' "$scratch/log" || tail -n1 "$scratch/log")
    [[ $reason == *'from versions: none'* ]] && reason="PyPI cannot be reached, or this pip is too old or has no such wheel for this system"
    cannot "pip could not fetch $1: ${reason#ERROR: }; 'make setup' tries again"
}

# settle puts the finished folder $1 in its place, $folder/NAME. The last step is one rename, so an interrupted set-up
# leaves nothing half-made; if another set-up came first, its folder stays.
settle() {
    rm -rf "${folder:?}/$(basename "$1")"
    mv "$1" "$folder/" 2>/dev/null || [[ -e $folder/$(basename "$1")/installed ]]
}

# note leaves in the finished folder $1 what was installed, $2, and checksums of the plugin.
note() { (cd "$1" && cksum ./*.so >sums) && cp "$2" "$1/installed"; }

# is_whole compares a folder's plugin with the checksums that were noted.
is_whole() { [[ -e $1/sums ]] && (cd "$1" && cksum ./*.so 2>/dev/null | cmp -s - sums); }

# is_installed compares what a finished set-up noted in its folder $2 with what is to be installed, $1.
is_installed() { cmp -s "$1" "$2/installed" && is_whole "$2"; }

install_cpu() {
    local pins=scripts/pjrt-cpu.requirements.txt
    is_installed $pins $folder/pjrt && return
    fetch $pins "$scratch/wheel" "XLA for the CPU (63 MB)"
    mkdir "$scratch/pjrt"
    mv "$scratch"/wheel/lammps_jax_pjrt_cpu/*.so "$scratch"/wheel/*.dist-info/licenses "$scratch/pjrt/"
    note "$scratch/pjrt" $pins
    settle "$scratch/pjrt"
    say "installed $cpu"
}

install_cuda() {
    local pins=scripts/pjrt-cuda.requirements.txt
    is_installed $pins $folder/pjrt-cuda && return
    fetch $pins "$scratch/pjrt-cuda" "XLA for NVIDIA GPUs and CUDA's libraries (2.5 GB)"
    mv "$scratch/pjrt-cuda/jax_plugins/xla_cuda13/xla_cuda_plugin.so" "$scratch/pjrt-cuda/$(basename $cuda)"
    # The plugin finds its libraries by its RPATH in $ORIGIN/../nvidia: beside its folder, not in it.
    ln -sfn pjrt-cuda/nvidia $folder/nvidia
    # XLA looks for ptxas and libdevice in nvidia/bin and nvidia/nvvm; the wheels have them one folder deeper.
    ln -s cu13/bin cu13/nvvm "$scratch/pjrt-cuda/nvidia/"
    note "$scratch/pjrt-cuda" $pins
    settle "$scratch/pjrt-cuda"
    say "installed $cuda"
}

case $asked in
'' | cpu | cuda) ;;
none) exit 0 ;;
*)
    say "PJRT=$asked is not known: use cpu, cuda or none"
    exit 1
    ;;
esac

[[ ${CGO_ENABLED:-$(scripts/cgo.sh)} == 1 ]] ||
    cannot "XLA needs cgo, and there is no C compiler that works (or CGO_ENABLED=0 is set): install gcc and the C library's headers"
if [[ $(uname -sm) != "Linux x86_64" ]]; then
    cannot "XLA's plugin is on PyPI for Linux x86-64 only: on $(uname -sm) name the folder of one that GoMLX has installed in PJRT_PLUGIN_LIBRARY_PATH"
fi

mkdir -p $folder
# Set-ups take turns: the second finds what the first installed. What one that was killed has left goes.
if command -v flock >/dev/null; then
    exec 8>$folder/setup.lock
    # Without locks, as on some network file systems, nothing is swept, and one set-up at a time may run.
    if flock 8; then find "$folder" -maxdepth 1 -type d -name "setup.*" -exec rm -rf {} +; fi
fi
scratch=$PWD/$folder/setup.$$
rm -rf "$scratch" && mkdir "$scratch"
trap 'rm -rf "$scratch"' EXIT
case $asked in
cuda)
    install_cpu
    install_cuda
    ;;
*) install_cpu ;;
esac
