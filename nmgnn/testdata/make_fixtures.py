"""Write gin_fixtures.json: what PyTorch Geometric says masked GIN layers compute, and their gradients.

Run it with: python3 -m venv /tmp/pyg && /tmp/pyg/bin/pip install -r make_fixtures.requirements.txt &&
/tmp/pyg/bin/python make_fixtures.py

The reference is torch_geometric.nn.GINConv in float64. PyG has no node masking, but GINConv takes a pair (sources,
targets), and sources multiplied by a 0/1 vector δ give eq. 8 of the node-masking paper, root unmasked:

    h'_v = MLP( (1+ε)·h_v + Σ_{u ∈ N_v} δ(u)·h_u )

Each result is also compared with eq. 8 written out over a dense adjacency matrix, so the file does not rest on PyG
alone.

In the file, one case a line:
    n, edges          nodes 0..n-1; undirected edges, each pair once
    x [n, f]          features
    labels, train     class of each node; the nodes the loss is over
    mask              δ as n zeros and ones, or null
    eps               ε, shared by all layers
    layers            per layer its linears, each with w [in, out] and b [out]; ReLU between linears
    hidden            h of every layer but the last, after the ReLU that follows the layer
    logits            output of the last layer: no ReLU
    loss              mean softmax cross-entropy over the train nodes
    grad              of the loss: x, and layers as above
Inputs are multiples of 1/64 (ε aside), so float32 holds them exactly. No ReLU sees a number within 1e-4 of zero, so
rounding cannot flip one. The same versions on the same kind of processor write the same bytes again.
"""

import numpy as np
import torch
from torch.nn.functional import relu
from torch_geometric.nn import GINConv

from fixtures_common import Kinks, draw_graph, empty, erdos_renyi, grid, path, solve, star, write

# name, nodes, edges, features, classes, outputs of each layer's linears, epsilon, keep rate of the mask (None: no mask)
CASES = [
    ("single node", 1, empty(), 3, 2, [[4], [2]], 0.0, None),
    ("no edges, masked", 5, empty(), 3, 2, [[4], [2]], 0.3, 0.5),
    ("pair, masked", 2, path(2), 2, 2, [[2]], 0.0, 0.5),
    ("path of 3", 3, path(3), 2, 2, [[2]], 0.0, None),
    ("path of 12, masked, two linears", 12, path(12), 4, 3, [[6, 5], [5, 3]], 0.0, 0.5),
    ("star of 9", 9, star(9), 4, 3, [[6], [3]], 0.0, None),
    ("star of 9, masked, epsilon", 9, star(9), 4, 3, [[6, 6], [3]], 0.3, 0.5),
    ("random 10, epsilon", 10, erdos_renyi(10, 0.3), 5, 3, [[3]], 0.3, None),
    ("random 20, masked", 20, erdos_renyi(20, 0.2), 6, 4, [[8], [4]], 0.0, 0.5),
    ("random 20 with 5 isolated, masked, two linears", 20, erdos_renyi(20, 0.25, isolated=5), 6, 4, [[8, 8], [8, 4]],
    0.0, 0.5),
    ("random 30, 3 layers, masked", 30, erdos_renyi(30, 0.1), 6, 4, [[8], [8], [4]], 0.0, 0.7),
    ("random 40, 3 layers, two linears, masked, epsilon", 40, erdos_renyi(40, 0.08), 7, 5, [[8, 8], [8, 8], [8, 5]],
    0.3, 0.3),
    ("random 16, everything masked", 16, erdos_renyi(16, 0.3), 4, 3, [[6], [3]], 0.0, 0.0),
]


def draw(rng, n, edges, features, classes, widths, eps, keep):
    """Draws a case's inputs."""
    layers, width = [], features
    for outs in widths:
        linears = []
        for out in outs:
            linears.append({"w": grid(rng.normal(size=(width, out)) / np.sqrt(width)),
                "b": grid(rng.normal(size=out) / 4)})
            width = out
        layers.append(linears)
    return draw_graph(rng, n, edges, features, classes, keep) | {"eps": eps, "layers": layers}


def solved(rng, *settings):
    """Draws a case and adds the reference's results; None if a ReLU's input comes too near to zero."""
    case = draw(rng, *settings)
    mask = None if case["mask"] is None else torch.tensor(case["mask"]).unsqueeze(1)
    kinks = Kinks()

    class ReLU(torch.nn.Module):
        def forward(self, z):
            return relu(kinks.watch(z))

    convs = []
    for linears in case["layers"]:
        modules = []
        for k, linear in enumerate(linears):
            module = torch.nn.Linear(*linear["w"].shape, dtype=torch.float64)
            modules += [ReLU(), module] if k else [module]
        conv = GINConv(torch.nn.Sequential(*modules), eps=case["eps"])
        conv.eps = torch.tensor(case["eps"], dtype=torch.float64)  # it would keep a float32
        for module, linear in zip(linears_of(conv), linears):  # only now: GINConv draws new weights when it is made
            module.weight.data = torch.tensor(linear["w"].T)  # torch keeps [out, in]
            module.bias.data = torch.tensor(linear["b"])
        convs.append(conv)

    def masked(conv):
        return lambda h, edge_index: conv(h if mask is None else (h * mask, h), edge_index)

    def gradients():
        return [[{"w": m.weight.grad.T.tolist(), "b": m.bias.grad.tolist()} for m in linears_of(c)] for c in convs]

    return solve(case, kinks, [masked(c) for c in convs], ReLU(), equation, gradients)


def linears_of(conv):
    return [m for m in conv.nn if isinstance(m, torch.nn.Linear)]


def equation(case, adjacency):
    """Each layer's output by eq. 8 over a dense adjacency matrix."""
    if case["mask"] is not None:
        adjacency = adjacency * case["mask"]  # column u: what u sends
    h = case["x"]
    for k, linears in enumerate(case["layers"]):
        h = (1 + case["eps"]) * h + adjacency @ h
        for j, linear in enumerate(linears):
            h = (np.maximum(h, 0) if j else h) @ linear["w"] + linear["b"]
        if k + 1 < len(case["layers"]):
            h = np.maximum(h, 0)
        yield h


if __name__ == "__main__":
    about = ("Masked GIN layers as PyTorch Geometric computes them. "
        "Written by make_fixtures.py, which says what is what.")
    write("gin_fixtures.json", about, CASES, solved)
