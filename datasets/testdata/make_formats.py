"""Writes one graph in every format that nodemask reads, each by the library that owns the format.

    python make_formats.py        # beside this file; needs the versions in make_formats.requirements.txt

The graph has 8 nodes and 2 classes. Node 3 and node 7 have no class; edges hold a self-loop and a repeat where the
format can.
"""

import gzip
import json
import pathlib

import networkx as nx
import numpy as np
import pandas as pd
import torch
from torch_geometric.data import Data, InMemoryDataset

here = pathlib.Path(__file__).parent / "formats"
here.mkdir(exist_ok=True)

ids = ["ann", "bob", "cy", "dan", "eve", "fay", "gus", "hal"]
classes = ["cat", "ant", "cat", None, "ant", "cat", "ant", None]
x = np.array([[1, 0.5], [0, -2], [3, 0], [0, 0], [0.25, 1], [1, 1], [2, 0], [0, 4]], dtype=np.float32)
edges = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 6), (0, 4)]
train, val, test = [0, 1], [2, 4], [5, 6]


def mask(nodes):
    return [v in nodes for v in range(len(ids))]


# NetworkX: GraphML and node-link JSON, directed and not.
for kind, name in [(nx.Graph, "undirected"), (nx.DiGraph, "directed")]:
    g = kind()
    for v, i in enumerate(ids):
        g.add_node(i, a=float(x[v, 0]), b=float(x[v, 1]), nick=i.upper())
        if classes[v]:
            g.nodes[i]["class"] = classes[v]
        for s, nodes in [("train", train), ("val", val), ("test", test)]:
            g.nodes[i][s + "_mask"] = v in nodes
    for u, v in edges:
        g.add_edge(ids[u], ids[v], weight=0.5)
    nx.write_graphml(g, here / f"{name}.graphml")
    link = "edges" if kind is nx.Graph else "links"  # NetworkX 3.4 writes the first, older ones the second
    (here / f"{name}.json").write_text(json.dumps(nx.node_link_data(g, edges=link)))

# PyTorch Geometric: Data, (data, slices), a dictionary; directed and not; strange strides.
index = torch.tensor(edges + [(v, u) for u, v in edges if u != v]).t().contiguous()
y = torch.tensor([{"cat": 1, "ant": 0, None: -1}[c] for c in classes])
data = Data(x=torch.tensor(x), edge_index=index, y=y, train_mask=torch.tensor(mask(train)),
    val_mask=torch.tensor(mask(val)), test_mask=torch.tensor(mask(test)))
torch.save(data, here / "data.pt")
InMemoryDataset.save([data], str(here / "dataset.pt"))
torch.save((data, None), here / "pair.pt")
torch.save(data.to_dict(), here / "dict.pt")
directed = Data(x=torch.tensor(x).double().t().contiguous().t(), edge_index=torch.tensor(edges, dtype=torch.int32).t(),
    y=y[:, None].float(), edge_attr=torch.ones(len(edges), 2))
torch.save(directed, here / "strides.pt")
torch.save(Data(x=torch.tensor(x).half(), edge_index=index, y=y.to(torch.int8), num_nodes=8,
    train_mask=torch.tensor([mask(train), mask(test)]).t()), here / "half.pt")
torch.save(Data(edge_index=index, name="no features"), here / "bare.pt")
torch.save([data, data], here / "two.pt")
torch.save(Data(x=torch.ones(1, 1).expand(8, 1000), edge_index=index), here / "expanded.pt")
torch.save(torch.nn.Linear(2, 2), here / "module.pt")

# The Open Graph Benchmark's folder, as its own download unpacks.
folder = here / "ogb"
(folder / "raw").mkdir(parents=True, exist_ok=True)
(folder / "split" / "time").mkdir(parents=True, exist_ok=True)


def packed(name, lines):
    with open(folder / name, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", mtime=0) as z:
        z.write("".join(line + "\n" for line in lines).encode())


packed("raw/edge.csv.gz", [f"{u},{v}" for u, v in edges])
packed("raw/node-feat.csv.gz", [",".join(map(str, row)) for row in x.tolist()])
packed("raw/node-label.csv.gz", ["nan" if c is None else "%.1f" % (c == "cat") for c in classes])
packed("raw/num-node-list.csv.gz", ["8"])
packed("raw/num-edge-list.csv.gz", [str(len(edges))])
packed("raw/node_year.csv.gz", ["2001"] * 8)
for name, part in [("train", train), ("valid", val), ("test", test)]:
    packed(f"split/time/{name}.csv.gz", map(str, part))
