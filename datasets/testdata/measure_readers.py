"""Writes a graph of 10^6 nodes and 10^7 edges as CSV and npz, and reads each with pandas (numpy for npz) to
a Data object.

    python measure_readers.py make FOLDER
    /usr/bin/time -v python measure_readers.py read FOLDER/csv        # or FOLDER/graph.npz
    /usr/bin/time -v python measure_readers.py plain FOLDER/csv       # the edges as they are listed
    /usr/bin/time -v python measure_readers.py nothing FOLDER/csv     # imports the libraries and ends

Needs the versions in make_formats.requirements.txt. What is read is what 'nodemask data info' reads: ids are looked
up, labels become classes, self-loops are dropped, and edges are stored in both directions, each once.
"""

import pathlib
import sys

import numpy as np
import pandas as pd


def make(folder):
    nodes, edges, width = 10**6, 10**7, 16
    r = np.random.default_rng(1)
    table = {"id": r.permutation(nodes) + 1000, "label": r.integers(0, 10, nodes)}
    x = r.normal(size=(nodes, width)).round(4).astype(np.float32)
    for i in range(width):
        table[f"x{i}"] = x[:, i]
    ends = r.integers(0, nodes, (edges, 2))
    for name in ["csv"]:
        (folder / name).mkdir(parents=True, exist_ok=True)
    n = pd.DataFrame(table)
    e = pd.DataFrame({"source": table["id"][ends[:, 0]], "target": table["id"][ends[:, 1]]})
    n.to_csv(folder / "csv" / "nodes.csv", index=False)
    e.to_csv(folder / "csv" / "edges.csv", index=False)
    order = np.argsort(ends[:, 0], kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(ends[:, 0], minlength=nodes))])
    np.savez(folder / "graph.npz", adj_indptr=offsets, adj_indices=ends[order, 1].astype(np.int32),
        adj_shape=[nodes, nodes], attr_matrix=x, labels=table["label"])


def read(path, undirected=True):
    import torch
    from torch_geometric.data import Data
    from torch_geometric.utils import remove_self_loops, to_undirected

    if path.suffix == ".npz":
        z = np.load(path)
        offsets = z["adj_indptr"]
        source = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        index = np.stack([source, z["adj_indices"].astype(np.int64)])
        x, y = z["attr_matrix"], z["labels"]
    else:
        n, e = pd.read_csv(path / "nodes.csv"), pd.read_csv(path / "edges.csv")
        ids = pd.Index(n["id"])
        index = np.stack([ids.get_indexer(e["source"]), ids.get_indexer(e["target"])])
        assert index.min() >= 0
        x = n.drop(columns=["id", "label"]).to_numpy(np.float32)
        y = n["label"].astype("category").cat.codes.to_numpy(np.int64)
    edge_index = torch.from_numpy(index)
    if undirected:
        edge_index = to_undirected(remove_self_loops(edge_index)[0], num_nodes=len(y))
    print(Data(x=torch.from_numpy(x), edge_index=edge_index, y=torch.from_numpy(y)))


def nothing(_):
    import torch_geometric.utils  # noqa: F401


{"make": make, "read": read, "plain": lambda path: read(path, False),
    "nothing": nothing}[sys.argv[1]](pathlib.Path(sys.argv[2]))
