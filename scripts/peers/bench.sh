#!/usr/bin/env bash
# Times epochs of GIN on Cora and PubMed: nodemask and other libraries in turns, five of them. Milliseconds an epoch.
set -euo pipefail
peers=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go test -c -o "$work/train.test" ./nmgnn/train
for data in cora pubmed; do
    go run ./scripts/peers/export "$data" "$work/$data"
    for round in 1 2 3 4 5; do
        echo "$data, round $round"
        (cd nmgnn/train && "$work/train.test" -test.run '^$' -test.bench "Epoch/$data/xla:cpu/gin/validate=false" -test.benchtime 10x)
        for library in torch-csr pyg pyg-compile; do
            echo "$library: $(echo 'train 10' | "$peers/torch/bin/python" scripts/peers/peers.py "$library" \
                --data "$work/$data" --model gin --keep-rate 0.5 | tail -1)"
        done
    done
done
