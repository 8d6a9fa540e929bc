"""Trains graph neural networks with node masking, from Python.

    import nodemask
    trained = nodemask.train(data, model="gin", keep_rate=0.5)   # a Data of PyTorch Geometric, say
    trained.f1, trained.predictions, trained.weights

The command nodemask does it: this writes the graph, runs the command, and reads what it wrote.
"""

import csv
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy

PROGRAM = pathlib.Path(__file__).resolve().parent / "bin/nodemask"


class Refused(ValueError):
    """What the command said that it cannot do."""


@dataclasses.dataclass
class Trained:
    """What trials of a model came to. Arrays are tensors of PyTorch where that is installed, else of NumPy."""

    trials: list  # of each trial what 'nodemask train --json' prints: seed, macro_f1, micro_f1, best_epoch, …
    seed: int  # of the trial that the rest is of: the best on validation nodes
    predictions: object  # [nodes] numbers of classes
    logits: object  # [nodes, classes]
    classes: list  # names, by number
    ids: list  # of the nodes, in the order of predictions
    weights: dict  # tensors by name, as docs/FORMATS.md lists them

    @property
    def f1(self):
        """Macro F1 on test nodes in percent, of each trial."""
        return tensor(numpy.array([t["macro_f1"] for t in self.trials]))

    def __str__(self):
        f1 = [t["macro_f1"] for t in self.trials]
        spread = f" ± {numpy.std(f1, ddof=1):.2f}" if len(f1) > 1 else ""
        return f"{self.trials[0]['model']}: macro F1 {numpy.mean(f1):.2f}{spread} % ({len(f1)} trials)"


def tensor(array):
    if "torch" not in sys.modules:
        try:
            import torch  # noqa: F401
        except ImportError:
            return array
    return sys.modules["torch"].from_numpy(numpy.ascontiguousarray(array))


def train(data, model="gin", keep_rate=1, save=None, quiet=True, **options):
    """Trains a model and returns what became of it, [Trained].

    data is a Data of PyTorch Geometric, a graph of NetworkX whose nodes have attributes (label is the class, numbers
    are features), a tuple of arrays (x [nodes, features], edge_index [2, edges], y [nodes]; -1: class not known), or
    what 'nodemask train --data' takes: a name or a path. Edges become undirected.

    keep_rate is the probability that a node is kept in an epoch; 1 masks nothing. Options are flags of
    'nodemask train' (trials=3, train=50, setting="transductive", split="own", dropout=0.3, set="norm=both"); a list is
    a flag several times. save is a file for the model, which 'nodemask predict' and 'export' read. Unless quiet, what
    the command says goes to standard error.
    """
    with tempfile.TemporaryDirectory(prefix="nodemask-") as folder:
        folder = pathlib.Path(folder)
        path, file = write(data, folder), folder / "model.safetensors"
        flags = [f"--keep-rate={keep_rate}"]
        for name, value in options.items():
            flag = "--" + name.replace("_", "-")
            flags += [f"{flag}={str(v).lower() if isinstance(v, bool) else v}"
                for v in (value if isinstance(value, (list, tuple)) else [value])]
        out = run(quiet, "train", f"--data={path}", f"--model={model}", *flags, "--json", f"--save-model={file}")
        trials = [json.loads(line) for line in out.splitlines()]
        table = run(True, "predict", f"--model={file}", "--all", f"--data={path}", "--layer=logits")
        metadata, weights = read_safetensors(file)
        if save is not None:
            shutil.copyfile(file, save)
    classes, rows = json.loads(metadata["classes"]), list(csv.DictReader(table.splitlines()))
    logits = numpy.array([[row[f"h{c}"] for c in range(len(classes))] for row in rows], numpy.float32)
    return Trained(trials, int(metadata["seed"]), tensor(logits.argmax(1)), tensor(logits), classes,
        [row["id"] for row in rows], {name: tensor(w) for name, w in weights.items()})


def write(data, folder):
    """Writes a graph into a folder, and returns its path or name."""
    kind = type(data).__module__.split(".")[0]
    if isinstance(data, (str, pathlib.Path)):
        return data
    if kind == "torch_geometric":
        import torch

        if not hasattr(data, "edge_index"):
            raise TypeError(f"a {type(data).__name__} has no edge_index: expected a Data of one kind of nodes")
        torch.save(data, folder / "graph.pt")
        return folder / "graph.pt"
    if kind == "networkx":
        import networkx

        (folder / "graph.json").write_text(json.dumps(networkx.node_link_data(data, edges="links"), default=plain))
        return folder / "graph.json"
    try:
        x, edges, y = (numpy.asarray(a) for a in data)
    except (TypeError, ValueError) as e:
        raise TypeError(f"data is a {type(data).__name__}: expected a torch_geometric.data.Data, a networkx.Graph, "
            "(x, edge_index, y) or a path") from e
    if x.ndim != 2 or edges.ndim != 2 or edges.shape[0] != 2 or y.shape != x.shape[:1]:
        raise ValueError(f"shapes {x.shape}, {edges.shape} and {y.shape}: expected x [nodes, features], edge_index "
            "[2, edges] and y [nodes]")
    numpy.savez(folder / "graph.npz", node_features=numpy.ascontiguousarray(x, numpy.float32),
        edges=numpy.ascontiguousarray(edges.T, numpy.int64), node_labels=numpy.ascontiguousarray(y))
    return folder / "graph.npz"


def plain(value):
    """What JSON has for a number or an array of NumPy's or PyTorch's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"an attribute of a node is a {type(value).__name__}: expected numbers and text")


def run(quiet, *arguments):
    """What the command prints. It raises [Refused] with its last line if it fails."""
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE if quiet else None,
        text=True)
    if done.returncode:
        said = (done.stderr or "").strip().splitlines()
        raise Refused(next((line for line in said if line.startswith("nodemask: ")), said[-1] if said else
            f"nodemask ended with exit code {done.returncode}").removeprefix("nodemask: "))
    return done.stdout


def read_safetensors(path):
    """A file's metadata, and its tensors by name."""
    raw = path.read_bytes()
    begin = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:begin])
    metadata = header.pop("__metadata__")
    return metadata, {name: numpy.frombuffer(raw[begin + t["data_offsets"][0]:begin + t["data_offsets"][1]],
        "<f4").reshape(t["shape"]).copy() for name, t in header.items()}
