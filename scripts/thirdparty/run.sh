#!/usr/bin/env bash
# Writes THIRD_PARTY.md: what the programs, pages and cells of this project hold of others, under which licences.
set -euo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
go build -C tools/supply -o "$scratch/go-licenses" github.com/google/go-licenses/v2
printf '{{range .}}{{.Name}}\t{{.LicenseName}}\t{{.LicensePath}}\n{{end}}' >"$scratch/template"

# Built with -trimpath, the tool does not know where Go is, and takes all that there is for Go's own.
GOROOT=$(go env GOROOT)
export GOROOT

# list prints the licences of packages; the tool warns of what it cannot look up in the network, which is not asked for.
list() { "$scratch/go-licenses" report --ignore nodemask --template "$scratch/template" "$@" 2>"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }; }

CGO_ENABLED=1 list ./cmd/nodemask >"$scratch/command"
GOOS=js GOARCH=wasm CGO_ENABLED=0 list ./cmd/nodemask-wasm >"$scratch/pages"
list ./nb ./nb/incell >"$scratch/cells"
python3 scripts/thirdparty/write.py "$(go env GOROOT)" "$scratch" >"$scratch/THIRD_PARTY.md"
cp "$scratch/THIRD_PARTY.md" THIRD_PARTY.md
