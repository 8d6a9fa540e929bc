#!/usr/bin/env bash
# Builds a program, whole or not at all: build.sh FILE PACKAGE [FLAGS OF go build].
#
# It builds beside the file and renames, so that a build which is killed leaves the program that was there. Go takes a program for the
# right one by its first bytes alone, so the size is noted beside it: one that has lost its end is built again. internal/gobuild does the
# same, with the same notes. Paths of this machine are left out, so that two builds in two folders are the same bytes.
set -euo pipefail

file=$1 package=$2
shift 2
folder=$(dirname "$file")
fresh=$folder/.${file##*/}.new note=$folder/.${file##*/}.size
mkdir -p "$folder"
# Two builds of one file take turns where there is a lock to wait for.
if command -v flock >/dev/null; then
    exec 8>"$folder/.lock"
    flock 8
fi
rm -rf "$fresh"
if [[ -f $file && -f $note && $(wc -c <"$file" | tr -d " ") == "$(<"$note")" ]]; then
    ln "$file" "$fresh" 2>/dev/null || true # go replaces it if it is out of date, and never writes into it
fi
go build -trimpath "$@" -o "$fresh" "$package" 8>&- || { status=$?; rm -f "$fresh"; exit "$status"; }
if [[ $fresh -ef $file ]]; then
    rm "$fresh"
    exit
fi
sync "$fresh" 2>/dev/null || true
wc -c <"$fresh" | tr -d ' ' >"$note.new"
mv "$note.new" "$note"
mv "$fresh" "$file"
