"""What the makers of fixtures share: graphs, draws, and how a case is solved and written."""

import json
import pathlib

import numpy as np
import torch
import torch_geometric
from torch.nn.functional import cross_entropy

KINK = 1e-4  # how near to zero the input of a ReLU or LeakyReLU may come


def erdos_renyi(n, p, isolated=0):
    """Edges of G(n-isolated, p); the last nodes stay alone."""
    return lambda rng: [(u, v) for u in range(n - isolated) for v in range(u + 1, n - isolated) if rng.random() < p]


def star(n):
    return lambda rng: [(0, v) for v in range(1, n)]


def path(n):
    return lambda rng: [(v, v + 1) for v in range(n - 1)]


def empty():
    return lambda rng: []


def grid(a):
    """Rounds to multiples of 1/64."""
    return np.round(np.asarray(a) * 64) / 64


def draw_graph(rng, n, edges, features, classes, keep):
    """Draws what a case has besides its layers."""
    mask = None
    if keep is not None:
        mask = (rng.random(n) < keep).astype(float)
        if n > 1 and 0 < keep and mask.min() == mask.max():  # a mask that says something: at least one of each
            mask[rng.integers(n)] = 1 - mask[0]
    return {
        "n": n,
        "edges": edges(rng),
        "x": grid(rng.normal(size=(n, features))),
        "labels": rng.integers(classes, size=n),
        "train": np.sort(rng.permutation(n)[: max(1, n // 2)]),
        "mask": mask,
    }


class Kinks:
    """Remembers how near to zero the numbers it was shown came."""

    def __init__(self):
        self.nearest = np.inf

    def watch(self, z):
        self.nearest = min(self.nearest, z.detach().abs().min().item())
        return z


def solve(case, kinks, layers, activation, equation, gradients):
    """Adds the reference's results to a case. Returns None if a number shown to kinks came too near to zero.

    layers are functions of h and edge_index, activation is what follows each but the last, and gradients() lists what
    the file says of each layer's gradients. equation(case, adjacency) is the same again without PyG: each layer's
    output.
    """
    x = torch.tensor(case["x"], requires_grad=True)
    both = [(u, v) for u, v in case["edges"]] + [(v, u) for u, v in case["edges"]]
    edge_index = torch.tensor(both, dtype=torch.long).reshape(-1, 2).t()
    h, outputs = x, []
    for k, layer in enumerate(layers):
        h = layer(h, edge_index)
        if k + 1 < len(layers):
            h = activation(h)
        outputs.append(h)
    train = torch.tensor(case["train"])
    loss = cross_entropy(h[train], torch.tensor(case["labels"])[train])
    loss.backward()
    if kinks.nearest < KINK:
        return None

    adjacency = np.zeros((case["n"], case["n"]))
    for u, v in case["edges"]:
        adjacency[u, v] = adjacency[v, u] = 1
    for output, want in zip(outputs, equation(case, adjacency), strict=True):
        np.testing.assert_allclose(want, output.detach().numpy(), rtol=1e-12, atol=1e-12)

    return case | {
        "hidden": [o.detach().tolist() for o in outputs[:-1]],
        "logits": outputs[-1].detach().tolist(),
        "loss": loss.item(),
        "grad": {"x": x.grad.tolist(), "layers": gradients()},
    }


def plain(value):
    """Turns numpy values into what json writes: multiples of 1/64, which inputs are, in full; other numbers with seven
    decimals, more than tests compare; whole numbers without their '.0'."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float) and not (64 * value).is_integer():
        value = round(value, 7)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def write(file, about, cases, solved):
    """Writes a file of cases, each a name and its settings. solved(rng, *settings) is a draw with its results, or
    None."""
    torch.set_num_threads(1)
    lines = []
    for number, (name, *settings) in enumerate(cases):
        for attempt in range(1000):
            case = solved(np.random.default_rng([number, attempt]), *settings)
            if case is not None:
                break
        else:
            raise SystemExit(f"{file}: {name}: every draw has a number within {KINK} of a kink")
        lines.append(json.dumps({"name": name} | plain(case), separators=(",", ":"), allow_nan=False))
    head = json.dumps({
        "about": about,
        "torch": torch.__version__.split("+")[0],
        "torch_geometric": torch_geometric.__version__,
    })[:-1]
    target = pathlib.Path(__file__).with_name(file)
    body = ",\n".join(lines)
    target.write_text(f'{head}, "cases": [\n{body}\n]}}\n')
    print(f"{file}: {len(lines)} cases, {target.stat().st_size} bytes")
