#!/usr/bin/env bash
# Runs scripts/reports with what scripts/lab/setup.sh has set up. Jupyter's own files stay in .nodemask.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
home=$project/.nodemask/jupyter
mkdir -p "$home"
export JUPYTER_CONFIG_DIR=$home/config JUPYTER_DATA_DIR=$home/data JUPYTER_RUNTIME_DIR=$home/runtime IPYTHONDIR=$home/ipython
# The kernel adds to this variable what .nodemask has.
export PJRT_PLUGIN_LIBRARY_PATH=${PJRT_PLUGIN_LIBRARY_PATH:-} PYTHONDONTWRITEBYTECODE=1
exec "$project/.nodemask/lab/bin/python" "$project/scripts/reports" "$@"
