#!/usr/bin/env python3
"""Writes random data of Cora's or PubMed's size: make_test_data.py cora|pubmed DIR."""
import json
import os
import sys

import numpy as np

# nodes, undirected edges, features, nonzeros a row, classes, train nodes
SIZES = {"cora": (2708, 5278, 1433, 18, 7, 140), "pubmed": (19717, 44324, 500, 50, 3, 60)}


def make(folder, nodes, edges, features, nonzeros, classes, train, seed=0):
    os.makedirs(folder, exist_ok=True)
    random = np.random.default_rng(seed)
    pairs = np.empty(0, np.int64)
    while len(pairs) < edges:
        a, b = random.integers(nodes, size=(2, 2 * edges))
        pairs = np.union1d(pairs, (np.minimum(a, b) * nodes + np.maximum(a, b))[a != b])
    a, b = np.divmod(random.permutation(pairs)[:edges], nodes)
    sources, targets = np.divmod(np.sort(np.concatenate([a * nodes + b, b * nodes + a])), nodes)
    columns = np.stack([np.sort(random.permutation(features)[:nonzeros]) for _ in range(nodes)])
    order = random.permutation(nodes)
    files = {
        "offsets.i64": np.searchsorted(sources, np.arange(nodes + 1)), "targets.i32": targets,
        "x_offsets.i64": np.arange(nodes + 1) * nonzeros, "x_columns.i32": columns,
        "x_values.f32": np.full(columns.shape, 1 / nonzeros), "labels.i32": random.integers(classes, size=nodes),
        "train.i32": order[:train], "validation.i32": order[train:train + min(500, nodes - train)],
    }
    for name, values in files.items():
        values.astype({"i64": "<i8", "i32": "<i4", "f32": "<f4"}[name[-3:]]).tofile(os.path.join(folder, name))
    meta = {"nodes": nodes, "edges": 2 * edges, "features": features, "classes": classes, "sparse": True}
    with open(os.path.join(folder, "meta.json"), "w") as f:
        json.dump(meta, f)


if __name__ == "__main__":
    make(sys.argv[2], *SIZES[sys.argv[1]])
