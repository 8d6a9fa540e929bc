#!/usr/bin/env bash
# Makes what is released of the commit that is checked out, into dist/ or the folder that is named: archives for Linux
# and macOS, Python wheels, the source, the parts of all of it (*.cdx.json), provenance.json and SHA256SUMS.
#
#   scripts/release/run.sh [FOLDER]      on Linux x86-64, with Go, a C compiler, GNU tar and Python 3
#
# All is built from the commit's files alone, in a folder of its own, and twice gives the same bytes with the same Go
# and C compiler; but the archive of pages, which is made where 'make' has run, has what notebooks said then. If the commit has a tag, it must be v and the version in paper/record/version.go; without a tag it is a
# snapshot. linux-amd64 is built with cgo, for XLA; the others compute in pure Go.
set -euo pipefail
cd "$(dirname "$0")/../.."

stop() { echo "release: $*" >&2; exit 1; }

[[ $(uname -sm) == "Linux x86_64" ]] || stop "linux-amd64 is compiled with cgo: run this on Linux x86-64"
for tool in go cc tar python3; do
    command -v "$tool" >/dev/null || stop "there is no $tool: expected Go, a C compiler, GNU tar and Python 3"
done
out=${1:-dist}
commit=$(git rev-parse HEAD) date=$(git show --no-patch --format=%ct HEAD)
tag=$(git tag --points-at HEAD --list 'v*' | head -n1)
version=$(git show HEAD:paper/record/version.go | sed -n 's/^const release = "\(.*\)"$/\1/p')
[[ -n $version ]] || stop "paper/record/version.go has no version"
[[ -z $tag || $tag == "v$version" ]] || stop "this commit has the tag $tag, and paper/record/version.go the version $version"

clone=$PWD
mkdir -p "$out"
out=$(cd "$out" && pwd)
[[ -z $(ls -A "$out") ]] || stop "$out is not empty"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What the user's environment sets must not decide what is in a release.
unset CGO_CFLAGS CGO_LDFLAGS CC GOAMD64 GOARM64
export GOWORK=off GOFLAGS='' LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH=$date

# pack FOLDER makes dist/FOLDER.tar.gz of $work/FOLDER, which follows from the files alone.
pack() {
    tar -C "$work" --sort=name --mtime="@$date" --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX --format=gnu \
        -cf - "$1" | gzip -9n >"$out/$1.tar.gz"
}

source=nodemask-$version-source
mkdir "$work/$source"
git archive HEAD | tar -x -C "$work/$source"
pack "$source"

cd "$work/$source"
flags=(-trimpath -buildvcs=false -ldflags=-s -tags=netgo,osusergo)
for target in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64; do
    name=nodemask-$version-$target
    cgo=0
    [[ $target != linux-amd64 ]] || cgo=1
    echo "release: building $name" >&2
    mkdir -p "$work/$name/bin" "$work/$name/scripts"
    GOOS=${target%-*} GOARCH=${target#*-} CGO_ENABLED=$cgo \
        go build "${flags[@]}" -o "$work/$name/bin/nodemask" ./cmd/nodemask
    # Set-up for XLA, what was measured, and licences.
    cp scripts/setup.sh scripts/cgo.sh scripts/pjrt-*.requirements.txt "$work/$name/scripts/"
    cp -R LICENSE THIRD_PARTY.md results "$work/$name/"
    cp scripts/release/INSTALL.md "$work/$name/README.md"
    pack "$name"
done

built=$work/nodemask-$version-linux-amd64/bin
[[ $("$built/nodemask" --version) == "nodemask $version "* ]] || stop "the program says another version than $version"
# The newest version of the C library that the program asks for decides where it runs, and what its wheel is called.
glibc=$(objdump -T "$built/nodemask" | sed -n 's/.*GLIBC_\([0-9.]*\)[) ].*/\1/p' | sort -uV | tail -n1)
python3 scripts/release/wheels.py --version "$version" --glibc "$glibc" --date "$date" --work "$work" --out "$out"
scripts/sbom.sh "$built"
for parts in "$built"/*.cdx.json; do cp "$parts" "$out/nodemask-$version-$(basename "$parts")"; done

# Where 'make' has run and nothing has changed since: notebooks with their outputs, and their pages.
if [[ -e $clone/reports/index.html ]] && [[ -z $(git -C "$clone" status --porcelain) ]]; then
    make -C "$clone" >&2 # at the size at which 'make' ran them, or all would be run again
    pages=nodemask-$version-pages
    mkdir -p "$work/$pages/notebooks"
    cp -R "$clone/reports" "$work/$pages/reports"
    cp "$clone"/.nodemask/notebooks/*.ipynb "$work/$pages/notebooks/"
    pack "$pages"
fi

cd "$out"
python3 - >provenance.json <<END
import hashlib, json, pathlib
files = sorted(p for p in pathlib.Path(".").iterdir() if p.name != "provenance.json")
print(json.dumps({
    "version": "$version", "tag": "$tag" or None, "commit": "$commit", "committed": $date,
    "go": "$(go env GOVERSION)", "c": "$(cc --version | head -n1)", "glibc": "$glibc or newer (linux-amd64)",
    "flags": "${flags[*]}",
    "cgo": {"linux-amd64": True, "linux-arm64": False, "darwin-amd64": False, "darwin-arm64": False},
    "made by": "scripts/release/run.sh",
    "sha256": {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files},
}, indent=1))
END
sha256sum -- * >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" .
echo "release: ${tag:-a snapshot of $version} in $out" >&2
