"""Write layer_fixtures.json: what PyTorch Geometric says the other masked layers compute, and their gradients.

Run it with: python3 -m venv /tmp/pyg && /tmp/pyg/bin/pip install -r make_fixtures.requirements.txt &&
/tmp/pyg/bin/python make_layer_fixtures.py

The references are layers of torch_geometric.nn in float64. PyG has no node masking, so what u sends is multiplied by
δ(u) in their message function. That is after attention and degrees are known: masked nodes still count in both.
Nothing is rescaled, and all layers and heads share δ. N_v has no self-loops; with C_v = {v} ∪ N_v, where δ(v) masks
v's own part too:

    gat      h'_v = Σ_{u ∈ C_v} α_vu·δ(u)·W h_u + b
             α = softmax over C_v of LeakyReLU(a_target·W h_v + a_source·W h_u)
    gatv2    h'_v = Σ_{u ∈ C_v} α_vu·δ(u)·s_u + b
             α = softmax over C_v of a·LeakyReLU(t_v + s_u),  s_u = W_source h_u + b_source,
             t_v = W_target h_v + b_target
    sgat     h'_v = Σ_{u ∈ C_v} δ(u)·W h_u / |C_v| + b
    gcn      h'_v = Σ_{u ∈ C_v} δ(u)·W h_u / √(|C_u|·|C_v|) + b
    sage     h'_v = W_neighbours·( Σ_{u ∈ N_v} δ(u)·h_u / |N_v| ) + b + W_root h_v,    the mean 0 if N_v is empty

In cases whose own term is kept, δ does not apply to u = v. LeakyReLU has slope 0.2. Each head of gat and gatv2 has
its own α and its own part of W and b; the heads are concatenated. Each result is also compared with these equations
written out over a dense adjacency matrix, so the file does not rest on PyG alone.

In the file, one case a line:
    name, layer       no two cases have the same name; layer is what stands on the left above
    n, edges          nodes 0..n-1; undirected edges, each pair once
    x [n, f]          features
    labels, train     class of each node; the nodes the loss is over
    mask              δ as n zeros and ones, or null
    self_kept         true: v's own term is never masked; missing otherwise
    layers            per layer its weights:
        gat           w [in, heads·d], a_source and a_target [heads, d], b [heads·d]; and the number heads
        gatv2         w_source and w_target [in, heads·d], b_source, b_target and b [heads·d], a [heads, d]; and heads
        sgat, gcn     w [in, out], b [out]
        sage          w_neighbours and w_root [in, out], b [out]
    hidden            h of every layer but the last, after the ReLU (gcn, sage) or ELU (the others) that follows the
                      layer
    logits            output of the last layer, which has one head: no ReLU or ELU
    loss              mean softmax cross-entropy over the train nodes
    grad              of the loss: x, and layers as above without heads
Inputs are multiples of 1/64, so float32 holds them exactly. No ReLU or LeakyReLU sees a number within 1e-4 of zero, so
rounding cannot flip one. The same versions on the same kind of processor write the same bytes again.
"""

import numpy as np
import torch
from torch.nn.functional import elu, relu
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, SAGEConv, SimpleConv

from fixtures_common import Kinks, draw_graph, empty, erdos_renyi, grid, path, solve, star, write

# Drawn anew for each kind of layer:
# name, nodes, edges, features, classes, heads and their width for each layer but the last, keep rate of the mask
# (None: no mask)
CASES = [
    ("single node", 1, empty(), 3, 2, [(1, 4)], None),
    ("no edges, masked", 5, empty(), 3, 2, [(2, 2)], 0.5),
    ("path of 3", 3, path(3), 2, 2, [], None),
    ("path of 10, masked", 10, path(10), 4, 3, [(1, 5)], 0.5),
    ("star of 9, masked", 9, star(9), 4, 3, [(2, 3)], 0.5),
    ("random 12", 12, erdos_renyi(12, 0.3), 4, 3, [(3, 2)], None),
    ("random 20 with 5 isolated, masked", 20, erdos_renyi(20, 0.25, isolated=5), 5, 4, [(2, 4)], 0.5),
    ("random 30, 3 layers, masked", 30, erdos_renyi(30, 0.12), 5, 4, [(2, 3), (3, 2)], 0.7),
    ("random 25, 3 layers, most masked", 25, erdos_renyi(25, 0.15), 5, 3, [(1, 6), (2, 3)], 0.3),
    ("random 12, everything masked", 12, erdos_renyi(12, 0.3), 4, 3, [(2, 3)], 0.0),
]
# Those of them that are drawn once more with v's own term kept, for the layers that can.
KEPT = ("no edges, masked", "star of 9, masked", "random 20 with 5 isolated, masked", "random 12, everything masked")


class GAT(GATConv):
    weights = {"w": "lin.weight", "a_source": "att_src", "a_target": "att_dst", "b": "bias"}

    def edge_update(self, alpha_j, alpha_i, edge_attr, index, ptr, dim_size):
        self.kinks.watch(alpha_j + alpha_i)
        return super().edge_update(alpha_j, alpha_i, edge_attr, index, ptr, dim_size)

    def message(self, x_j, alpha, edge_index_i, edge_index_j):
        return self.delta[edge_index_i, edge_index_j].view(-1, 1, 1) * super().message(x_j, alpha)


class GATv2(GATv2Conv):
    weights = {"w_source": "lin_l.weight", "b_source": "lin_l.bias", "w_target": "lin_r.weight",
        "b_target": "lin_r.bias",
               "a": "att", "b": "bias"}

    def edge_update(self, x_j, x_i, edge_attr, index, ptr, dim_size):
        self.kinks.watch(x_j + x_i)
        return super().edge_update(x_j, x_i, edge_attr, index, ptr, dim_size)

    def message(self, x_j, alpha, edge_index_i, edge_index_j):
        return self.delta[edge_index_i, edge_index_j].view(-1, 1, 1) * super().message(x_j, alpha)


class SGAT(SimpleConv):
    weights = {"w": "lin.weight", "b": "bias"}

    def __init__(self, inputs, outputs):
        super().__init__(aggr="mean", combine_root="self_loop")
        self.lin = torch.nn.Linear(inputs, outputs, bias=False)
        self.bias = torch.nn.Parameter(torch.zeros(outputs))

    def forward(self, h, edge_index):
        return super().forward(self.lin(h), edge_index) + self.bias

    def message(self, x_j, edge_weight, edge_index_i, edge_index_j):
        return self.delta[edge_index_i, edge_index_j].view(-1, 1) * super().message(x_j, edge_weight)


class GCN(GCNConv):
    weights = {"w": "lin.weight", "b": "bias"}

    def message(self, x_j, edge_weight, edge_index_i, edge_index_j):
        return self.delta[edge_index_i, edge_index_j].view(-1, 1) * super().message(x_j, edge_weight)


class SAGE(SAGEConv):
    weights = {"w_neighbours": "lin_l.weight", "b": "lin_l.bias", "w_root": "lin_r.weight"}

    def message(self, x_j, edge_index_i, edge_index_j):
        return self.delta[edge_index_i, edge_index_j].view(-1, 1) * super().message(x_j)


def attend(scores, closed):
    """Softmax over u of scores [v, u, head] where closed [v, u] is 1."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True)) * closed[:, :, None]
    return raised / raised.sum(axis=1, keepdims=True)


def leaky(z):
    return np.where(z > 0, z, 0.2 * z)


def dense_gat(layer, h, adjacency, delta):
    z = (h @ layer["w"]).reshape(len(h), *layer["a_source"].shape)
    target, source = (z * layer["a_target"]).sum(axis=2), (z * layer["a_source"]).sum(axis=2)
    alpha = attend(leaky(target[:, None] + source[None, :]), adjacency + np.eye(len(h)))
    return np.einsum("vuk,vu,ukd->vkd", alpha, delta, z).reshape(len(h), -1) + layer["b"]


def dense_gatv2(layer, h, adjacency, delta):
    source = (h @ layer["w_source"] + layer["b_source"]).reshape(len(h), *layer["a"].shape)
    target = (h @ layer["w_target"] + layer["b_target"]).reshape(len(h), *layer["a"].shape)
    alpha = attend((leaky(target[:, None] + source[None, :]) * layer["a"]).sum(axis=3), adjacency + np.eye(len(h)))
    return np.einsum("vuk,vu,ukd->vkd", alpha, delta, source).reshape(len(h), -1) + layer["b"]


def dense_sgat(layer, h, adjacency, delta):
    closed = adjacency + np.eye(len(h))
    return (closed * delta / closed.sum(axis=1, keepdims=True)) @ (h @ layer["w"]) + layer["b"]


def dense_gcn(layer, h, adjacency, delta):
    closed = adjacency + np.eye(len(h))
    root = np.sqrt(closed.sum(axis=1))
    return (closed * delta / np.outer(root, root)) @ (h @ layer["w"]) + layer["b"]


def dense_sage(layer, h, adjacency, delta):
    mean = (adjacency * delta) @ h / np.maximum(adjacency.sum(axis=1, keepdims=True), 1)
    return mean @ layer["w_neighbours"] + layer["b"] + h @ layer["w_root"]


# layer: reference, the same without PyG, whether it has heads, whether ELU follows it (else ReLU)
KINDS = {
    "gat": (GAT, dense_gat, True, True),
    "gatv2": (GATv2, dense_gatv2, True, True),
    "sgat": (SGAT, dense_sgat, False, True),
    "gcn": (GCN, dense_gcn, False, False),
    "sage": (SAGE, dense_sage, False, False),
}


def filed(p):
    """A parameter, or its gradient, in the file's shape: torch keeps [out, in], and PyG keeps attention as [1,
    heads, d]."""
    return p.detach().squeeze(0) if p.dim() == 3 else p.detach().T if p.dim() == 2 else p.detach()


def draw(rng, conv):
    """Draws a layer's weights and gives them to its reference."""
    layer = {}
    for name, at in conv.weights.items():
        p = conv.get_parameter(at)
        shape = filed(p).shape
        scale = 1 / 4 if p.dim() == 1 else 1 / np.sqrt(shape[0]
            if p.dim() == 2 else shape[1])  # vectors by what they sum over
        layer[name] = grid(rng.normal(size=shape) * scale)
        p.data = torch.tensor(layer[name].T if p.dim() == 2 else layer[name].reshape(p.shape))
    return layer


def solved(rng, kind, self_kept, n, edges, features, classes, hidden, keep):
    """Draws a case and adds the reference's results; None if an input of a ReLU or LeakyReLU comes too near to zero."""
    reference, dense, has_heads, has_elu = KINDS[kind]
    convs, layers, width = [], [], features
    for heads, d in hidden + [(1, classes)]:
        conv = reference(width, d, heads=heads) if has_heads else reference(width, heads * d)
        layers.append(({"heads": heads} if has_heads else {}) | draw(rng, conv))
        convs.append(conv)
        width = heads * d
    case = {"layer": kind} | ({"self_kept": True} if self_kept else {}) | draw_graph(rng, n, edges, features, classes,
        keep) | {"layers": layers}

    kinks = Kinks()
    delta = np.ones((n, n)) if case["mask"] is None else np.tile(case["mask"], (n, 1))  # [v, u]: what v hears of u
    if self_kept:
        np.fill_diagonal(delta, 1)
    for conv in convs:
        conv.kinks, conv.delta = kinks, torch.tensor(delta)

    def activation(z):
        return elu(z) if has_elu else relu(kinks.watch(z))

    def equation(case, adjacency):
        h = case["x"]
        for k, layer in enumerate(case["layers"]):
            h = dense(layer, h, adjacency, delta)
            if k + 1 < len(case["layers"]):
                h = np.where(h > 0, h, np.expm1(np.minimum(h, 0)) if has_elu else 0)
            yield h

    def gradients():
        return [{name: filed(c.get_parameter(at).grad).tolist() for name, at in c.weights.items()} for c in convs]

    return solve(case, kinks, convs, activation, equation, gradients)


def named(kind, name, hidden):
    """The case's name, with the heads of its hidden layers if it has several."""
    heads = [str(heads) for heads, _ in hidden]
    told = KINDS[kind][2] and any(h != "1" for h in heads)
    return f"{kind}, {name}" + (f", {' and '.join(heads)} heads" if told else "")


if __name__ == "__main__":
    about = ("Masked layers as PyTorch Geometric computes them. "
        "Written by make_layer_fixtures.py, which says what is what.")
    cases = [(named(kind, name, rest[-2]), kind, False, *rest) for kind in KINDS for name, *rest in CASES]
    cases += [(named(kind, name, rest[-2]) + ", own term kept", kind, True, *rest)
              for kind in ("gat", "gatv2", "sgat") for name, *rest in CASES if name in KEPT]
    write("layer_fixtures.json", about, cases, solved)
