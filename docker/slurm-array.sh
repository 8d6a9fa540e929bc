#!/usr/bin/env bash
# Runs the paper as an array of Slurm jobs: sbatch docker/slurm-array.sh, in the project's folder after 'make setup build'.
# What follows is for 'nodemask reproduce': sbatch docker/slurm-array.sh table-gin-cora --trials 3
# A job that is ended, or runs out of time, goes on where it was when it is sent again: sbatch --array=3 docker/slurm-array.sh
# When all have ended: bin/nodemask reproduce merge results-shards/*
#SBATCH --job-name=nodemask
#SBATCH --array=1-8
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --output=nodemask-%A-%a.log
set -euo pipefail

# How many shares there are: the last number of --array above. Slurm's own count is another one when only some are sent again.
shards=${SHARDS:-8}
share=${SLURM_ARRAY_TASK_ID:?this is for sbatch: it needs the number of a job in an array}
cd "${SLURM_SUBMIT_DIR:-.}"
# A folder each, since files that are shared over a network cannot always be locked.
exec bin/nodemask reproduce --shard "$share/$shards" --jobs "${SLURM_CPUS_PER_TASK:-1}" --results "results-shards/$share" "$@"
