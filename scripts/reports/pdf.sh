#!/usr/bin/env bash
# Prints a page as PDF with Chromium: pdf.sh PAGE.html FILE.pdf
set -euo pipefail
# Chromium has no sandbox for root, as in containers.
[[ $(id -u) != 0 ]] || rooted=--no-sandbox
for browser in chromium chromium-browser google-chrome; do
    if command -v "$browser" >/dev/null; then
        scratch=$(mktemp -d)
        trap 'rm -rf "$scratch"' EXIT
        if ! "$browser" --headless ${rooted:-} --disable-gpu --user-data-dir="$scratch/profile" --no-pdf-header-footer \
            --virtual-time-budget=60000 --print-to-pdf="$scratch/page.pdf" "file://$(realpath "$1")" 2>"$scratch/said" ||
            [ ! -s "$scratch/page.pdf" ]; then
            echo "$1: $browser printed no PDF: $(tail -n 3 "$scratch/said")" >&2
            exit 1
        fi
        cp "$scratch/page.pdf" "$2.new" && mv "$2.new" "$2"
        exit
    fi
done
echo "$1: no browser to print it with: install Chromium ('apt-get install chromium', for instance)" >&2
exit 1
