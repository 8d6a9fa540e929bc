#!/usr/bin/env bash
# Starts JupyterLab, for this machine alone, with the first notebook open: scripts/lab/start.sh [PORT] [JUPYTERLAB'S FLAGS].
# Its settings, workspaces and run-time files stay in .nodemask/jupyter, or where JUPYTER_HOME says. JUPYTER_TOKEN sets the token;
# else it is drawn. JUPYTER_ROOT is the folder that is shown (default: the project), JUPYTER_IP the address to listen at.
set -euo pipefail
cd "$(dirname "$0")/../.."

port=${1:-8888}
shift || true
[[ $port =~ ^[0-9]+$ ]] || { echo "lab: the port '$port' is no number" >&2; exit 1; }
home=${JUPYTER_HOME:-$PWD/.nodemask/jupyter}
mkdir -p "$home"
export JUPYTER_CONFIG_DIR=$home/config JUPYTER_DATA_DIR=$home/data JUPYTER_RUNTIME_DIR=$home/runtime
export JUPYTER_ROOT=${JUPYTER_ROOT:-$PWD} # nb.Page asks for it
export JUPYTERLAB_SETTINGS_DIR=$home/settings JUPYTERLAB_WORKSPACES_DIR=$home/workspaces IPYTHONDIR=$home/ipython
flags=()
# Without a display, Python would look for a browser in vain, or find one that draws in the terminal.
[[ $(uname -s) == Darwin || -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] || flags+=(--no-browser)
[[ $(id -u) != 0 ]] || flags+=(--allow-root)
# Where the token is drawn, a warning says the address; the rest of the log is for people who look into Jupyter itself.
[[ -n ${JUPYTER_TOKEN:-} ]] || flags+=(--log-level=WARN)
exec .nodemask/lab/bin/python -m jupyterlab --ip="${JUPYTER_IP:-127.0.0.1}" --port="$port" --ServerApp.root_dir="$JUPYTER_ROOT" \
    --LabApp.default_url=/lab/tree/notebooks/00-start-here.ipynb ${flags[@]+"${flags[@]}"} "$@"
