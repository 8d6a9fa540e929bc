"""Run a model that nodemask saved with the layers of PyTorch Geometric, by what its safetensors file says alone.

    python3 -m venv /tmp/pyg && /tmp/pyg/bin/pip install -r read_with_pyg.requirements.txt
    /tmp/pyg/bin/python read_with_pyg.py MODEL.safetensors GRAPH.json    # prints the largest difference of the logits
    /tmp/pyg/bin/python read_with_pyg.py --write      # writes pyg/graph.json's logits and python.safetensors anew

GRAPH.json has n, edges (undirected, each pair once), x [n, features], and logits by the model file's name, which may
be missing. The models in pyg/ are written by `go test ./nmgnn/cached -run PyTorchGeometric -update`, with which the
tests also compare them. python.safetensors is pyg/gin.safetensors as the library for safetensors writes it, which
puts the tensors in another order. docs/FORMATS.md says what the names mean; this script is the same again as a program.
"""

import hashlib
import json
import pathlib
import sys

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch.nn import BatchNorm1d, Linear, ReLU, Sequential
from torch.nn.functional import elu, relu
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, GINConv, SAGEConv, SimpleConv

WITHIN = 1e-4  # and a millionth of the largest logit, since nodemask computes in single precision


def read(path):
    """Returns a model file's settings and its tensors, in double precision."""
    with safe_open(path, "pt") as f:
        metadata = f.metadata()
        if metadata.get("kind") != "model" or metadata.get("version") != "1":
            raise SystemExit(
                f"{path}: a {metadata.get('kind')} of version {metadata.get('version')}: expected a model of version 1")
        return json.loads(metadata["settings"]), {name: f.get_tensor(name).double() for name in f.keys()}


def fill(module, **parameters):
    """Sets parameters and buffers by their names in PyTorch, and returns the module for inference."""
    own = dict(module.named_parameters()) | dict(module.named_buffers())
    for name, value in parameters.items():
        own[name.replace("__", ".")].data = value.reshape(own[name.replace("__", ".")].shape).contiguous()
    return module.eval()


def linear(t, at):
    w = t[at + ".weights"]
    return fill(Linear(*w.shape), weight=w.T, bias=t[at + ".biases"])


def norm(t, at):
    return fill(BatchNorm1d(t[at + ".gamma"].numel()), weight=t[at + ".gamma"], bias=t[at + ".beta"],
                running_mean=t[at + ".running_mean"], running_var=t[at + ".running_variance"])


def gin(t, at, settings):
    steps = [linear(t, at + ".linear0")]
    for i in range(1, settings["mlp_layers"]):
        steps += [norm(t, f"{at}.norm{i - 1}")] if f"{at}.norm{i - 1}.gamma" in t else []
        steps += [ReLU(), linear(t, f"{at}.linear{i}")]
    conv = GINConv(Sequential(), eps=settings["epsilon"] + t.get(at + ".epsilon", torch.zeros(1)).item())
    conv.nn = Sequential(*steps)  # not before: GINConv draws the weights of what it is given anew
    return conv


def gat(t, at, _):
    w, (heads, d) = t[at + ".weights"], t[at + ".source"].shape
    return fill(GATConv(len(w), d, heads=heads), lin__weight=w.T, att_src=t[at + ".source"], att_dst=t[at + ".target"],
        bias=t[at + ".biases"])


def gatv2(t, at, _):
    w, (heads, d) = t[at + ".source_weights"], t[at + ".attention"].shape
    return fill(GATv2Conv(len(w), d, heads=heads), lin_l__weight=w.T, lin_l__bias=t[at + ".source_biases"],
                lin_r__weight=t[at + ".target_weights"].T, lin_r__bias=t[at + ".target_biases"],
                att=t[at + ".attention"], bias=t[at + ".biases"])


def gcn(t, at, _):
    w = t[at + ".weights"]
    return fill(GCNConv(*w.shape), lin__weight=w.T, bias=t[at + ".biases"])


def sage(t, at, _):
    w = t[at + ".weights"]
    return fill(SAGEConv(*w.shape), lin_l__weight=w.T, lin_l__bias=t[at + ".biases"],
        lin_r__weight=t[at + ".root_weights"].T)


def sgat(t, at, _):
    mean = SimpleConv(aggr="mean", combine_root="self_loop")
    return lambda h, edges: mean(h @ t[at + ".weights"], edges) + t[at + ".biases"]


KINDS = {"gin": gin, "gat": gat, "gatv2": gatv2, "gcn": gcn, "sage": sage, "sgat": sgat}


@torch.no_grad()
def logits(path, x, edges):
    """Computes the logits [n, classes] of a model file for features x [n, features] and edge_index [2, both
    directions]."""
    settings, t = read(path)
    activation = elu if "gat" in settings["model"] else relu
    readout = settings.get("readout", "")
    if settings["normalize_features"]:
        x = x / x.abs().sum(dim=1, keepdim=True).clamp(min=1e-300)
    h, all_h = x, [x]
    for k in range(settings["layers"]):
        at = f"layer{k}"
        out = KINDS[settings["model"]](t, at, settings)(h, edges)
        if readout or k + 1 < settings["layers"]:
            if at + ".norm.gamma" in t:
                out = norm(t, at + ".norm")(out)
            out = activation(out)
        h = out + h if settings.get("residual") and h.shape == out.shape else out
        all_h.append(h)
    if readout == "all":
        return sum(linear(t, f"readout{j}")(h) for j, h in enumerate(all_h))
    return linear(t, "readout")(h) if readout else h


def rewrite(path, to):
    """Writes a model file again by the library, with the checksums that nodemask asks for."""
    with safe_open(path, "pt") as f:
        tensors, metadata = {name: f.get_tensor(name) for name in f.keys()}, f.metadata()
    del metadata["fingerprint"]  # which only caches of nodemask's need
    raw = save(tensors, metadata | {"header_sha256": "0" * 64, "data_sha256": "1" * 64})
    n = 8 + int.from_bytes(raw[:8], "little")
    header = raw[8:n].replace(b"1" * 64, hashlib.sha256(raw[n:]).hexdigest().encode())
    to.write_bytes(raw[:8] + header.replace(b"0" * 64, hashlib.sha256(header).hexdigest().encode()) + raw[n:])


def graph(path):
    g = json.loads(pathlib.Path(path).read_text())
    both = g["edges"] + [[v, u] for u, v in g["edges"]]
    return g, torch.tensor(g["x"], dtype=torch.double), torch.tensor(both, dtype=torch.long).reshape(-1, 2).T


def main(arguments):
    torch.set_num_threads(1)
    if arguments == ["--write"]:
        at = pathlib.Path(__file__).parent / "pyg" / "graph.json"
        g, x, edges = graph(at)
        g["logits"] = {f.name: logits(f, x, edges).tolist() for f in sorted(at.parent.glob("*.safetensors"))}
        rewrite(at.parent / "gin.safetensors", at.parent.parent / "python.safetensors")
        at.write_text("{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'), allow_nan=False)}"
            for k, v in g.items()) + "}\n")
        return
    if len(arguments) != 2:
        raise SystemExit(__doc__)
    g, x, edges = graph(arguments[1])
    ours = g.get("logits", {}).get(pathlib.Path(arguments[0]).name)
    theirs = logits(arguments[0], x, edges)
    if ours is None:
        print(json.dumps(theirs.tolist()))
        return
    far, largest = (theirs - torch.tensor(ours, dtype=torch.double)).abs().max().item(), theirs.abs().max().item()
    print(f"{arguments[0]}: {len(theirs)} nodes, logits up to {largest:.3g}, largest difference {far:.3g}")
    if not far <= WITHIN + 1e-6 * largest:
        raise SystemExit(f"expected at most {WITHIN + 1e-6 * largest}")


if __name__ == "__main__":
    main(sys.argv[1:])
