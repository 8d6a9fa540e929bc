#!/usr/bin/env bash
# Tries slurm-array.sh on a Slurm cluster of its own: two nodes on this machine, in a temporary folder, gone afterwards.
#
#   apt-get install slurm-wlm munge && make build && docker/try-slurm.sh        as root; it takes some minutes
#
# A node is drained, and one goes down; jobs are requeued, killed, cancelled and sent again. The records that are merged in the
# end must be those of one process, but for times. ARGUMENTS are those of 'nodemask reproduce' (default: below); KEEP=1 keeps the folder.
# Exit code 1: it did not work; 2: something is missing here.
set -euo pipefail

shares=4
read -ra arguments <<<"${ARGUMENTS:-table-scale-cora --trials 2 --backend go}"
port=${PORT:-16817} # and the three above it

project=$(cd "$(dirname "$0")/.." && pwd)
misuse() { echo "try-slurm: $*" >&2; exit 2; }
[ "$(id -u)" = 0 ] || misuse "Slurm's daemons start jobs as their users: run this as root"
export PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch; do
	command -v "$program" >/dev/null || misuse "$program is not there: apt-get install slurm-wlm munge"
done
[ -x "$project/bin/nodemask" ] || misuse "bin/nodemask is not there: make build"

folder=$(mktemp -d)
chmod 711 "$folder" # munged's socket is to be reached by all
say() { printf '%s %s\n' "$(date +%T)" "$*"; }
fail() {
	echo "try-slurm: $*" >&2
	squeue --array >&2 || true
	tail -n 5 "$folder"/log/*.log "$folder"/runs/*.log >&2 || true
	exit 1
}

# stop ends what was started here: jobs first, then daemons by their pid files.
stop() {
	code=$?
	trap - EXIT
	if [ -s "$folder/slurmctld.pid" ]; then
		scancel --user=root 2>/dev/null || true
		await 30 idle || true
	fi
	for daemon in slurmd-one slurmd-two slurmctld munged; do
		[ -s "$folder/$daemon.pid" ] || continue
		pid=$(<"$folder/$daemon.pid")
		kill "$pid" 2>/dev/null || continue
		await 20 gone "$pid" || kill -KILL "$pid" 2>/dev/null || true
	done
	if [ -n "${KEEP:-}" ]; then echo "kept: $folder"; else rm -rf "$folder"; fi
	exit "$code"
}
idle() { [ -z "$(squeue --noheader 2>&1)" ]; }
gone() { ! kill -0 "$1" 2>/dev/null; }
# await SECONDS COMMAND… waits until the command succeeds.
await() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}
trap stop EXIT
trap 'exit 1' INT TERM

# The cluster. Credentials of a job that is requeued expire after 10 s in place of 2 minutes, which it would wait.
mkdir "$folder"/{log,state,spool-one,spool-two,runs}
host=$(hostname -s)
cat >"$folder/slurm.conf" <<CONF
ClusterName=try
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket,cred_expire=10
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd-%n.log
KillWait=10
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=one NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1 RealMemory=4000
NodeName=two NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1 RealMemory=4000
PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
dd if=/dev/urandom of="$folder/munge.key" bs=128 count=1 status=none
chmod 0400 "$folder/munge.key"
munged --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" --seed-file="$folder/munge.seed" --log-file="$folder/log/munged.log"
slurmctld
slurmd -N one
slurmd -N two
nodes() { [ "$(sinfo --noheader --states=idle --format=%D 2>/dev/null)" = 2 ]; }
await 60 nodes || fail "the nodes did not come up"
say "$(slurmctld -V): two nodes are up"

# The project as one sees it from a folder of one's own.
runs=$folder/runs
ln -s "$project/bin" "$project/docker" "$runs"
[ ! -e "$project/.nodemask" ] || ln -s "$project/.nodemask" "$runs"
cd "$runs"
export SHARDS=$shares

send() { sbatch --parsable --array="$1" --cpus-per-task=1 --mem=2G docker/slurm-array.sh "${arguments[@]}"; }
state() { squeue --noheader --array --states=all --jobs="$1" --format=%T 2>/dev/null; }
node() { squeue --noheader --array --jobs="$1" --format=%N; }
records() { cat "results-shards/$1"/*.jsonl 2>/dev/null | wc -l; }
begun() { [ "$(state "$1_$2")" = RUNNING ] && [ "$(records "$2")" -gt "$3" ]; }
# underway JOB SHARE [N] waits until a share's job has more than N records, and runs.
underway() { await 600 begun "$1" "$2" "${3:-0}" || fail "share $2 did not get under way: $(state "$1_$2"), $(records "$2") records. If it is done, ask for more trials in ARGUMENTS"; }
is() { [[ " $3 " = *" $(state "$1_$2") "* ]]; }
becomes() { await 120 is "$@" || fail "share $2: $(state "$1_$2"), expected $3"; }

scontrol update nodename=two state=drain reason=try
job=$(send "1-$shares")
underway "$job" 1
[ -z "$(squeue --noheader --nodelist=two)" ] || fail "a job runs on the drained node"
say "node two drained: share 1 runs on node $(node "${job}_1"), and $(squeue --noheader --array --states=PENDING | wc -l) wait"

before=$(records 1)
scontrol requeue "${job}_1"
becomes "$job" 1 PENDING
say "share 1 requeued after $before trials"

underway "$job" 2
number=$(squeue --noheader --array --jobs="${job}_2" --format=%A)
scontrol listpids "$number" one | awk '$1 ~ /^[0-9]+$/ { print $1 }' | xargs kill -KILL || fail "share 2's processes were not found"
becomes "$job" 2 "FAILED NODE_FAIL"
say "share 2 killed after $(records 2) trials: $(state "${job}_2")"

scontrol update nodename=two state=resume
underway "$job" 3
scancel "${job}_3"
becomes "$job" 3 CANCELLED
say "share 3 cancelled after $(records 3) trials"

underway "$job" 4
at=$(node "${job}_4")
scontrol update nodename="$at" state=down reason=try
becomes "$job" 4 PENDING
say "node $at is down: share 4 requeued after $(records 4) trials"
underway "$job" 1 "$before"
say "share 1 runs again, on node $(node "${job}_1")"
scontrol update nodename="$at" state=resume

again=$(send 2,3)
await 1800 idle || fail "not all jobs ended"
for task in "${job}_1" "${again}_2" "${again}_3" "${job}_4"; do
	[ "$(state "$task")" = COMPLETED ] || fail "job $task: $(state "$task"), expected COMPLETED"
done
say "all shares done"

bin/nodemask reproduce merge results-shards/* --results merged
bin/nodemask reproduce verify --results merged
bin/nodemask reproduce "${arguments[@]}" --results one 2>one.log || fail "one process: $(tail -n 1 one.log)"
# plain lists a folder's records without their times.
plain() { cat "$1"/*.jsonl | sed -E 's/,"seconds":[^,}]*//; s/,"date":"[^"]*"//' | sort; }
plain one >one.txt
plain merged >merged.txt
[ -s one.txt ] || fail "one process left no records"
diff one.txt merged.txt >diff.txt || fail "the merged records differ from those of one process: $(head -c 2000 diff.txt)"
say "the $(wc -l <merged.txt) merged records are those of one process"
