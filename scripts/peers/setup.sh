#!/usr/bin/env bash
# Makes the virtual environments that the baselines run in: DIR/torch (pyg, pyg-csr, pyg-compile, torch-spmm, torch-csr) and DIR/dgl.
# setup.sh [DIR]; DIR is .nodemask/peers unless given. What cannot be installed is said; without torch and PyG the exit
# code is 1. $PYTHON names the Python, 3.11 by preference: DGL has wheels up to that.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/../../.nodemask/peers}
python=${PYTHON:-$(command -v python3.11 || command -v python3)}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
have=() lack=()

# environment makes $folder/$1 of the requirements $2, unless it has them already, and keeps the log beside it.
environment() {
    local venv=$folder/$1 log=$folder/$1.log
    cmp -s "$2" "$venv/installed" && return
    rm -rf "$venv"
    "$python" -m venv "$venv" >"$log" 2>&1 &&
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary=:all: -r "$2" >>"$log" 2>&1 &&
        cp "$2" "$venv/installed"
}

# try does what follows the name $1, and notes whether it went well.
try() {
    local name=$1
    shift
    if "$@"; then have+=("$name"); else lack+=("$name"); fi
}

kernels() { (cd "$here" && "$folder/torch/bin/python" -c 'import csr; csr.load_kernels()') >"$folder/kernels.log" 2>&1; }

try "torch and PyG" environment torch "$here/requirements.txt"
[[ ${#lack[@]} == 0 ]] && try "torch-csr's kernels" kernels
try DGL environment dgl "$here/dgl.requirements.txt"

list() { local IFS=,; echo "${*//,/, }" | sed 's/,\([^ ]\)/, \1/g'; }
echo "peers: in $folder: $(list "${have[@]:-nothing}")${lack[*]:+; could not install $(list "${lack[@]}"), see the logs there}"
[[ -e $folder/torch/installed ]]
