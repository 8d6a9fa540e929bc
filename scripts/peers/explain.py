#!/usr/bin/env python3
"""Compares `nodemask explain` with PyTorch Geometric's GNNExplainer and integrated gradients on one saved model.

    nodemask train --data cora --setting transductive --train 10 --keep-rate 0.5 --trials 1 --save-model gin.safetensors
    .nodemask/peers/torch/bin/python scripts/peers/explain.py --nodemask bin/nodemask gin.safetensors

Each method scores the directed edges that a node's logits depend on: `nodemask explain` by the sum of the shares of the
branches over an edge, the others by their edge masks. The best quarter of each node's edges is its explanation.
Fidelity+, fidelity- and unfaithfulness are those of torch_geometric.explain.metric, on the same model from the same
file. It needs captum and safetensors beside scripts/peers/requirements.txt.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import torch
from torch_geometric.explain import CaptumExplainer, Explainer, Explanation, GNNExplainer
from torch_geometric.explain.metric import fidelity, unfaithfulness
from torch_geometric.utils import k_hop_subgraph

PROJECT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "nmgnn" / "cached" / "testdata"))
import read_with_pyg as saved  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("models", nargs="+", help="files of `nodemask train --save-model`: gin, gcn, sage, gat or gatv2")
parser.add_argument("--nodemask", default="nodemask", help="the command")
parser.add_argument("--data", default="cora")
parser.add_argument("--nodes", type=int, default=100, help="nodes, at equal distances from node 0 on")
parser.add_argument("--share", type=float, default=0.25, help="of a node's edges that are its explanation")
parser.add_argument("--epochs", type=int, default=200, help="of GNNExplainer")
parser.add_argument("--seed", type=int, default=0)


class Network(torch.nn.Module):
    """A saved model as PyG's layers, in single precision; without a readout or residuals."""

    def __init__(self, path):
        super().__init__()
        self.settings, tensors = saved.read(path)
        assert not self.settings.get("readout") and not self.settings.get("residual"), f"{path}: a readout or residuals"
        assert self.settings["normalize_features"], f"{path}: expected a model of features divided by their sums"
        kind = self.settings["model"]
        self.convs = torch.nn.ModuleList(saved.KINDS[kind](tensors, f"layer{k}", self.settings).float()
                                         for k in range(self.settings["layers"]))
        self.norms = torch.nn.ModuleList(saved.norm(tensors, f"layer{k}.norm").float()
                                         for k in range(self.settings["layers"] - 1)
                                         if f"layer{k}.norm.gamma" in tensors)
        self.activation = saved.elu if "gat" in kind else saved.relu
        self.requires_grad_(False)

    def forward(self, x, edge_index):
        for k, conv in enumerate(self.convs):
            x = conv(x, edge_index)
            if k + 1 < len(self.convs):
                x = self.activation(self.norms[k](x) if self.norms else x)
        return x


def read_graph(data):
    """The graph as scripts/peers/export writes it: x [nodes, features], rows divided by their sums, and edge_index."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["go", "run", "./scripts/peers/export", data, folder], cwd=PROJECT, check=True)
        at = pathlib.Path(folder)
        meta = json.loads((at / "meta.json").read_text())
        if meta["sparse"]:
            x = torch.zeros(meta["nodes"], meta["features"])
            x[rows(at / "x_offsets.i64"), read(at / "x_columns.i32", "<i4")] = read(at / "x_values.f32", "<f4")
        else:
            x = read(at / "x.f32", "<f4").view(meta["nodes"], meta["features"])
        return x, torch.stack([read(at / "targets.i32", "<i4"), rows(at / "offsets.i64")])


def read(file, kind):
    values = torch.from_numpy(numpy.fromfile(file, kind))
    return values if values.is_floating_point() else values.long()


def rows(file):
    """The row of each entry of a matrix whose offsets are in a file."""
    counts = read(file, "<i8").diff()
    return torch.arange(len(counts)).repeat_interleave(counts)


def ours(args, model, nodes):
    """The JSON of each node, and the seconds that one took, the start of the command included."""
    begin = time.time()
    out = subprocess.run([args.nodemask, "explain", "--data", args.data, "--model", model, "--json", "--node",
                          ",".join(map(str, nodes))], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()], (time.time() - begin) / len(nodes)


def edge_scores(explanation, edges):
    """The sum of the shares of the branches whose last step is each edge (source, target)."""
    total = dict.fromkeys(edges, 0.0)
    for branch in explanation["branches"]:
        target, source = branch["path"][-2:]
        total[source, target] += branch["share"]
    return torch.tensor([total[e] for e in edges])


def compare(args, path, x, edge_index):
    torch.manual_seed(args.seed)
    network = Network(path).eval()
    layers = network.settings["layers"]
    nodes = [k * (len(x) // args.nodes) for k in range(args.nodes)]
    explained, seconds = ours(args, path, nodes)
    config = dict(mode="multiclass_classification", task_level="node", return_type="raw")

    def explainer(algorithm):
        # Each has a network of its own: the masks that one leaves there keep gradients from those of another.
        return Explainer(Network(path).eval(), algorithm, explanation_type="model", edge_mask_type="object",
            model_config=config)

    methods = {"GNNExplainer": explainer(GNNExplainer(epochs=args.epochs)),
               # Its entropy term drives edges to 0 or 1 whichever way they began, where a prediction is certain.
               "GNNExplainer, no entropy": explainer(GNNExplainer(epochs=args.epochs, lr=0.1, edge_ent=0.0)),
               "integrated gradients": explainer(CaptumExplainer("IntegratedGradients"))}
    judge = explainer(GNNExplainer())
    sums = {name: [0.0] * 4 for name in ["nodemask explain", *methods, "at random"]}
    sums["nodemask explain"][3] = seconds * len(nodes)
    counted, far = 0, 0.0
    for e in explained:
        node = e["node"]  # a number that is another node's id asked for that node
        # One hop more than layers, so that all degrees which GCN reads are there.
        subset, edges, index, _ = k_hop_subgraph(node, layers + 1, edge_index, relabel_nodes=True)
        features, index = x[subset], index.item()
        far = max(far, (network(features, edges)[index] - torch.tensor(e["logits"])).abs().max().item())
        near = k_hop_subgraph(index, layers - 1, edges)[0]  # whose sums the logits depend on
        candidates = torch.isin(edges[1], near).nonzero().view(-1)
        if len(candidates) < 2:
            continue
        counted += 1
        most = math.ceil(args.share * len(candidates))
        pairs = [tuple(subset[edges[:, k]].tolist()) for k in candidates.tolist()]
        for name in sums:
            begin = time.time()
            if name == "nodemask explain":
                scores = edge_scores(e, pairs)
            elif name == "at random":
                scores = torch.rand(len(candidates))
            else:
                scores = methods[name](features, edges, index=index).edge_mask[candidates]
                sums[name][3] += time.time() - begin
            mask = torch.zeros(edges.size(1))
            mask[candidates[scores.topk(most).indices]] = 1
            prediction = judge.get_prediction(features, edges)
            hard = Explanation(x=features, edge_index=edges, edge_mask=mask, index=index, prediction=prediction,
                               target=judge.get_target(prediction))
            hard._model_args = []
            plus, minus = fidelity(judge, hard)
            for k, value in enumerate([plus, minus, unfaithfulness(judge, hard)]):
                sums[name][k] += value
    assert far < 1e-3, f"{path}: PyG's logits are others: they differ by {far}"
    title = {"gin": "GIN", "gcn": "GCN", "sage": "GraphSAGE", "gat": "GAT", "gatv2": "GATv2"}[network.settings["model"]]
    for name, (plus, minus, unfaithful, seconds) in sums.items():
        each = f"{1000 * seconds / counted:.0f} ms" if seconds else ""
        shares = f"{plus / counted:.2f} | {minus / counted:.2f} | {unfaithful / counted:.3f}"
        print(f"| {title} | {name} | {shares} | {each} |", flush=True)
    print(f"{path}: {counted} nodes; PyG's logits differ by at most {far:.1g}", file=sys.stderr)


def main():
    args = parser.parse_args()
    torch.set_num_threads(1)
    x, edge_index = read_graph(args.data)
    print("| model | method | fidelity+ | fidelity− | unfaithfulness | a node |\n|---|---|---:|---:|---:|---:|")
    for path in args.models:
        compare(args, path, x, edge_index)


if __name__ == "__main__":
    main()
