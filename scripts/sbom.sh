#!/usr/bin/env bash
# Lists the parts of what is built and loaded, as CycloneDX, each file whole or not at all: bin/nodemask.cdx.json of the command,
# bin/nodemask-beam.cdx.json of that for Apache Beam, if it is built, bin/nodemask-wasm.cdx.json of the program of pages, and bin/plugin.cdx.json of XLA's plugin for the CPU, if it is set up.
#
#   scripts/sbom.sh [FOLDER]      the folder of the programs, where the lists are left, too (default: bin)
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-bin}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
go build -C tools/supply -o "$scratch/cyclonedx" github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
version=$("$bin/nodemask" --version | cut -d' ' -f2)
# settle puts a list in its place. In a release its time is the commit's: the same commit gives the same bytes.
settle() {
    if [[ -n ${SOURCE_DATE_EPOCH:-} ]]; then
        sed -i "s/\"timestamp\": \"[^\"]*\"/\"timestamp\": \"$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)\"/" "$scratch/$1"
    fi
    mv "$scratch/$1" "$bin/.$1.new" && mv "$bin/.$1.new" "$bin/$1"
}

"$scratch/cyclonedx" bin -json -licenses -std -noserial -version "$version" -output "$scratch/nodemask.cdx.json" "$bin/nodemask"
settle nodemask.cdx.json
if [[ -f $bin/nodemask-beam ]]; then # 'make' does not build it
    "$scratch/cyclonedx" bin -json -licenses -std -noserial -version "$version" -output "$scratch/nodemask-beam.cdx.json" "$bin/nodemask-beam"
    settle nodemask-beam.cdx.json
fi
# Go notes nothing in a WebAssembly program: its modules are those of the packages that it is linked of.
modules='{{with .Module}}{{if .Version}}{"type": "library", "name": "{{.Path}}", "version": "{{.Version}}", "purl": "pkg:golang/{{.Path}}@{{.Version}}"}{{end}}{{end}}'
GOOS=js GOARCH=wasm CGO_ENABLED=0 go list -deps -f "$modules" ./cmd/nodemask-wasm | sort -u | grep . | paste -sd, - >"$scratch/modules"
cat >"$scratch/nodemask-wasm.cdx.json" <<END
{
  "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
  "metadata": {"component": {"type": "application", "name": "nodemask-wasm", "version": "$version"}},
  "components": [$(<"$scratch/modules")]
}
END
settle nodemask-wasm.cdx.json

plugin=.nodemask/pjrt/pjrt_c_api_cpu_plugin.so
if [[ -f $plugin ]]; then
    pin=$(grep -o '^[a-z-]*==[0-9.]*' scripts/pjrt-cpu.requirements.txt)
    cat >"$scratch/plugin.cdx.json" <<END
{
  "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
  "components": [{
    "type": "library", "name": "${pin%%==*}", "version": "${pin##*==}", "purl": "pkg:pypi/${pin%%==*}@${pin##*==}",
    "licenses": [{"license": {"id": "Apache-2.0"}}],
    "components": [{"type": "file", "name": "${plugin##*/}", "hashes": [{"alg": "SHA-256", "content": "$(sha256sum "$plugin" | cut -d' ' -f1)"}]}]
  }]
}
END
    settle plugin.cdx.json
fi
