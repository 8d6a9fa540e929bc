#!/usr/bin/env bash
# Times 'make' as somebody meets it who has just cloned: each run has a clone, a home folder and caches of its own, all
# empty (Go's builds and modules, pip's), in a folder that is gone afterwards. Commits take turns, so that what else the
# machine does slows all alike.
#
#   scripts/time-make.sh [--rounds 3] [--command 'make'] COMMIT ...      (as in: --rounds 3 main~20 HEAD)
#
# A line a run: the round, the commit, seconds by the clock, of a processor (user and system), and after how many
# seconds the first page was there; in the end medians. What a run says is in LOGS (default: a temporary folder, which
# is named). It takes the time of that many runs: some minutes each.
set -euo pipefail

stop() { echo "time-make: $*" >&2; exit 2; }

rounds=3 command=make
while [[ ${1:-} == --* ]]; do
    case $1 in
    --rounds) rounds=${2:-} ;;
    --command) command=${2:-} ;;
    *) stop "$1 is not known: use --rounds N or --command COMMAND, then commits" ;;
    esac
    shift 2 || stop "--rounds and --command need a value"
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || stop "--rounds is '$rounds': use a number from 1 on"
(($#)) || stop "name one commit or two, as in: scripts/time-make.sh main HEAD"
project=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
commits=() # as they are now: HEAD may move meanwhile
for commit in "$@"; do
    commits+=("$(git -C "$project" rev-parse --quiet --verify --short=10 "$commit^{commit}")") || stop "there is no commit $commit"
done

scratch=$(mktemp -d)
# Go keeps modules read-only.
clean() { chmod -R u+w "$scratch" && rm -rf "$scratch"; }
trap clean EXIT
trap 'exit 130' INT
logs=${LOGS:-$(mktemp -d)}
mkdir -p "$logs"
mapfile -t settings < <(go env -changed | sed -n "s/^\(GOPROXY\|GOSUMDB\|GONOSUMDB\|GOTOOLCHAIN\)='\(.*\)'$/\1=\2/p")
for file in "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf"; do
    [[ ! -e $file ]] || settings+=("PIP_CONFIG_FILE=$file")
done
TIMEFORMAT='%R %U %S'

# run runs the command in a new clone of $1 with empty caches, logs to $2, and prints the seconds.
run() {
    local home=$scratch/home clone=$scratch/clone begun times
    mkdir "$home"
    git clone --quiet --no-hardlinks "$project" "$clone"
    git -C "$clone" checkout --quiet --detach "$1"
    begun=$EPOCHREALTIME
    (
        until compgen -G "$clone/reports/*.html" >/dev/null; do sleep 0.5; done
        awk -v from="$begun" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }' >"$scratch/first"
    ) 2>/dev/null &
    local watcher=$!
    # Settings of Go, pip and proxies stay: without them some machines reach nothing.
    times=$( { time env "${settings[@]}" HOME="$home" XDG_CACHE_HOME="$home/.cache" \
        GOCACHE="$home/.cache/go-build" GOMODCACHE="$home/go/pkg/mod" GOPATH="$home/go" \
        PIP_CACHE_DIR="$home/.cache/pip" bash -c "cd '$clone' && $command" >"$2" 2>&1; } 2>&1 ) ||
        { tail -n 5 "$2" >&2; echo "time-make: $1 failed, see $2" >&2; exit 1; }
    kill "$watcher" 2>/dev/null || true
    awk -v first="$(cat "$scratch/first" 2>/dev/null || echo none)" \
        '{ printf "%.1f %.1f %s\n", $1, $2 + $3, first }' <<<"$times"
    clean && mkdir "$scratch"
}

printf '%-6s %-14s %10s %12s %12s   load %s\n' round commit seconds processor "first page" \
    "$(uptime | sed 's/.*average: //')"
for ((round = 1; round <= rounds; round++)); do
    for sha in "${commits[@]}"; do
        took=$(run "$sha" "$logs/$round-$sha.log")
        read -r seconds processor first <<<"$took"
        printf '%-6s %-14s %10s %12s %12s\n' "$round" "$sha" "$seconds" "$processor" "$first"
        echo "$seconds" >>"$logs/$sha.seconds"
    done
done
for sha in "${commits[@]}"; do
    sort -n "$logs/$sha.seconds" | awk -v name="$sha" '{ t[NR] = $1 } END {
        printf "median %-14s %10.1f s of %d\n", name, NR % 2 ? t[(NR + 1) / 2] : (t[NR / 2] + t[NR / 2 + 1]) / 2, NR }'
done
echo "logs: $logs"
