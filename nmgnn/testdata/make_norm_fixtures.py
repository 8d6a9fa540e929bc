"""Write norm_fixtures.json: what PyTorch says GIN with batch normalisation, readouts and residuals computes.

Run it with: python3 -m venv /tmp/pyg && /tmp/pyg/bin/pip install -r make_fixtures.requirements.txt &&
/tmp/pyg/bin/python make_norm_fixtures.py

The reference is built of torch_geometric.nn.GINConv, torch.nn.BatchNorm1d and torch.nn.Linear in float64, with sources
masked as in make_fixtures.py:

    h^(k) = ReLU(norm( MLP((1+ε)·h_v + Σ_{u ∈ N_v} δ(u)·h_u) )), plus h^(k-1) with a residual and equal widths

norm "inside" is between the linear layers of an MLP, before the ReLU, and "both" is there and after each hidden layer.
Readout "last" is a linear layer on h^(k), "all" the sum of one on each of h^(0)…h^(k), where h^(0) = x; without a
readout the last layer has neither norm nor ReLU. Each result is also compared with the same written out in numpy, so
the file does not rest on PyTorch alone. The first loss and gradients are of training. Then the model, its weights as
they were, runs in training once more, and then as outside training, by the running statistics.

In the file, one case a line:
    n, edges          nodes 0..n-1; undirected edges, each pair once
    x [n, f]          features
    labels, train     class of each node; the nodes the loss is over
    mask              δ as n zeros and ones, or null
    eps, norm, readout, residual   as above; "" is none
    widths            outputs of each layer's linears
    weights           by the name of their variable: of a linear w [in, out] and b [out], of a norm γ and β
    outputs           h^(1)…h^(k), and with a readout the logits behind them: in training
    loss              mean softmax cross-entropy over the train nodes
    grad              of the loss, by the name of the variable
    once, twice       running statistics after one run in training and after two, by the name of the variable
    tested            logits outside training, without mask, by the statistics after two
Weights and features are multiples of 1/64 (ε aside), so float32 holds them exactly. No ReLU sees a number within 1e-4
of zero, so rounding cannot flip one. The same versions on the same kind of processor write the same bytes again.
"""

import numpy as np
import torch
from torch.nn.functional import cross_entropy, relu
from torch_geometric.nn import GINConv

from fixtures_common import KINK, Kinks, draw_graph, erdos_renyi, grid, path, star, write

# name, nodes, edges, features, classes, outputs of each layer's linears, norm, readout, residual, epsilon, keep rate
# (None: no mask)
CASES = [
    ("path of 3, norm inside", 3, path(3), 2, 2, [[3, 2]], "inside", "", False, 0.0, None),
    ("random 12, norm inside, masked", 12, erdos_renyi(12, 0.3), 4, 3, [[6, 5], [5, 4, 3]], "inside", "", False, 0.0,
    0.5),
    ("random 14, norm both, masked, epsilon", 14, erdos_renyi(14, 0.2), 4, 3, [[5, 5], [5, 5], [5, 3]], "both", "",
    False, 0.3, 0.5),
    ("random 20 with 5 isolated, norm both, readout last", 20, erdos_renyi(20, 0.25, isolated=5), 5, 3,
    [[6, 6], [6, 6]], "both", "last", False, 0.0, None),
    ("random 20, norm both, readout all, masked", 20, erdos_renyi(20, 0.2), 5, 4, [[6, 6], [6, 6]], "both", "all",
    False, 0.0, 0.5),
    ("random 16, 4 layers, norm both, readout all, residual, masked", 16, erdos_renyi(16, 0.2), 5, 3, [[5, 5]] * 4,
    "both", "all", True, 0.0, 0.5),
    ("star of 9, readout all, masked", 9, star(9), 4, 3, [[5], [6]], "", "all", False, 0.0, 0.5),
    ("random 12, residual", 12, erdos_renyi(12, 0.3), 4, 3, [[4], [4], [3]], "", "", True, 0.0, 0.5),
    ("random 12, norm both, readout all, everything masked", 12, erdos_renyi(12, 0.3), 4, 3, [[5, 5], [5, 5]], "both",
    "all", False, 0.0, 0.0),
]


class Model(torch.nn.Module):
    """The reference. self.named has each part by the name of its variables."""

    def __init__(self, kinks, features, classes, widths, norm, readout, residual, eps):
        super().__init__()
        self.kinks, self.readout, self.residual, self.named = kinks, readout, residual, {}
        self.convs, self.norms = torch.nn.ModuleList(), torch.nn.ModuleList()
        width, all_widths = features, [features]
        for k, outs in enumerate(widths):
            modules = []
            for i, out in enumerate(outs):
                modules.append(self.part(f"layer{k}/linear{i}", torch.nn.Linear(width, out)))
                if i + 1 < len(outs):
                    if norm:
                        modules.append(self.part(f"layer{k}/norm{i}", torch.nn.BatchNorm1d(out)))
                    modules.append(Rectifier(kinks))
                width = out
            conv = GINConv(torch.nn.Sequential(*modules), eps=eps)
            conv.eps = torch.tensor(eps, dtype=torch.float64)
            self.convs.append(conv)
            hidden = readout or k + 1 < len(widths)
            self.norms.append(self.part(f"layer{k}/norm", torch.nn.BatchNorm1d(width)) if norm == "both"
                and hidden else torch.nn.Identity())
            all_widths.append(width)
        if readout == "last":
            self.scores = torch.nn.ModuleList([self.part("readout", torch.nn.Linear(width, classes))])
        elif readout == "all":
            self.scores = torch.nn.ModuleList(self.part(f"readout{j}", torch.nn.Linear(w, classes)) for j,
                w in enumerate(all_widths))

    def part(self, name, module):
        self.named[name] = module.double()
        return module

    def forward(self, x, edge_index, mask):
        h, outputs = x, []
        for k, conv in enumerate(self.convs):
            before = h
            h = conv(h if mask is None else (h * mask, h), edge_index)
            if self.readout or k + 1 < len(self.convs):
                h = relu(self.kinks.watch(self.norms[k](h)))
            if self.residual and h.shape == before.shape:
                h = h + before
            outputs.append(h)
        if self.readout == "last":
            outputs.append(self.scores[0](h))
        elif self.readout == "all":
            outputs.append(sum(score(h) for score, h in zip(self.scores, [x] + outputs, strict=True)))
        return outputs


class Rectifier(torch.nn.Module):
    def __init__(self, kinks):
        super().__init__()
        self.kinks = kinks

    def forward(self, z):
        return relu(self.kinks.watch(z))


def equation(case, mask, running):
    """All outputs in numpy: in training if running is None, else by these statistics. Returns them and what was
    measured."""
    weights, measured = case["weights"], {}
    adjacency = np.zeros((case["n"], case["n"]))
    for u, v in case["edges"]:
        adjacency[u, v] = adjacency[v, u] = 1
    if mask is not None:
        adjacency = adjacency * mask

    def linear(name, h):
        return h @ weights[name + "/weights"] + weights[name + "/biases"]

    def norm(name, h):
        if name + "/gamma" not in weights:
            return h
        mean, variance = h.mean(axis=0), h.var(axis=0)
        measured[name + "/running_mean"], measured[name + "/running_variance"] = mean, h.var(axis=0, ddof=1)
        if running is not None:
            mean, variance = running[name + "/running_mean"], running[name + "/running_variance"]
        return (h - mean) / np.sqrt(variance + 1e-5) * weights[name + "/gamma"] + weights[name + "/beta"]

    h, outputs = case["x"], []
    for k, outs in enumerate(case["widths"]):
        before = h
        h = (1 + case["eps"]) * h + adjacency @ h
        for i in range(len(outs)):
            h = linear(f"layer{k}/linear{i}", h)
            if i + 1 < len(outs):
                h = np.maximum(norm(f"layer{k}/norm{i}", h), 0)
        if case["readout"] or k + 1 < len(case["widths"]):
            h = np.maximum(norm(f"layer{k}/norm", h), 0)
        if case["residual"] and h.shape == before.shape:
            h = h + before
        outputs.append(h)
    if case["readout"] == "last":
        outputs.append(linear("readout", h))
    elif case["readout"] == "all":
        outputs.append(sum(linear(f"readout{j}", h) for j, h in enumerate([case["x"]] + outputs)))
    return outputs, measured


def trained(model):
    """The trained parameters by the names of their variables, each with how it goes into the file's shape."""
    for name, module in model.named.items():
        is_linear = isinstance(module, torch.nn.Linear)
        yield name + ("/weights" if is_linear else "/gamma"), module.weight, (lambda p: p.T) if is_linear else (
            lambda p: p)
        yield name + ("/biases" if is_linear else "/beta"), module.bias, lambda p: p


def statistics(model):
    found = {}
    for name, module in model.named.items():
        if isinstance(module, torch.nn.BatchNorm1d):
            found[name + "/running_mean"] = module.running_mean.numpy().copy()
            found[name + "/running_variance"] = module.running_var.numpy().copy()
    return found


def solved(rng, n, edges, features, classes, widths, norm, readout, residual, eps, keep):
    """Draws a case and adds the reference's results; None if a ReLU's input comes too near to zero."""
    case = draw_graph(rng, n, edges, features, classes, keep)
    case |= {"eps": eps, "norm": norm, "readout": readout, "residual": residual, "widths": widths, "weights": {}}
    kinks = Kinks()
    model = Model(kinks, features, classes, widths, norm, readout, residual, eps)
    for name, p, shape in trained(model):
        drawn = grid(rng.normal(size=shape(p).shape) * (1 / np.sqrt(p.shape[1]) if p.dim() == 2 else 1 / 4))
        if name.endswith("/gamma"):
            drawn += 1
        case["weights"][name] = drawn
        p.data = shape(torch.tensor(drawn))

    x = torch.tensor(case["x"])
    both = [(u, v) for u, v in case["edges"]] + [(v, u) for u, v in case["edges"]]
    edge_index = torch.tensor(both, dtype=torch.long).reshape(-1, 2).t()
    mask = None if case["mask"] is None else torch.tensor(case["mask"]).unsqueeze(1)
    outputs = model(x, edge_index, mask)
    train = torch.tensor(case["train"])
    loss = cross_entropy(outputs[-1][train], torch.tensor(case["labels"])[train])
    loss.backward()
    once = statistics(model)
    with torch.no_grad():
        model(x, edge_index, mask)
        twice = statistics(model)
        model.eval()
        tested = model(x, edge_index, None)
    if kinks.nearest < KINK:
        return None

    wanted, measured = equation(case, case["mask"], None)
    for output, want in zip(outputs, wanted, strict=True):
        np.testing.assert_allclose(want, output.detach().numpy(), rtol=1e-10, atol=1e-10)
    for name, value in measured.items():
        first = 1.0 if name.endswith("variance") else 0.0
        np.testing.assert_allclose(once[name], 0.9 * first + 0.1 * value, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(twice[name], 0.9 * once[name] + 0.1 * value, rtol=1e-10, atol=1e-10)
    for output, want in zip(tested, equation(case, None, twice)[0], strict=True):
        np.testing.assert_allclose(want, output.numpy(), rtol=1e-10, atol=1e-10)

    return case | {
        "outputs": [o.detach().numpy() for o in outputs],
        "loss": loss.item(),
        "grad": {name: shape(p.grad).numpy() for name, p, shape in trained(model)},
        "once": once,
        "twice": twice,
        "tested": tested[-1].numpy(),
    }


if __name__ == "__main__":
    about = ("GIN with batch normalisation, readouts and residuals as PyTorch computes it. "
        "Written by make_norm_fixtures.py, which says what is what.")
    write("norm_fixtures.json", about, CASES, solved)
