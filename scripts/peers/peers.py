#!/usr/bin/env python3
"""Trains a GNN with another library, epoch by epoch as stdin asks, and prints how long each epoch took.

Once one epoch has run, {"ready":true,…} is printed. Then every line on stdin is a command: "train N" runs N epochs
and "validate N" N epochs with validation; each answers with one JSON line of times. See README.md.
"""
import argparse
import json
import os
import resource
import sys
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("library", choices=["pyg", "pyg-csr", "pyg-compile", "dgl", "torch-spmm", "torch-csr"])
parser.add_argument("--data", required=True, help="folder with meta.json")
parser.add_argument("--model", choices=["gin", "gat", "sgat"], default="gin")
parser.add_argument("--keep-rate", type=float, default=1)
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--layers", type=int, default=2)
parser.add_argument("--hidden", type=int, default=64)
parser.add_argument("--mlp-layers", type=int, default=1)
parser.add_argument("--heads", type=int, default=8)
parser.add_argument("--dropout", type=float, help="default: 0.5 for gin, 0.6 for gat and sgat")
parser.add_argument("--attention-dropout", type=float, default=0.6, help="of gat, while no node is masked")
parser.add_argument("--learning-rate", type=float, default=0.01)
parser.add_argument("--weight-decay", type=float, default=5e-4)
parser.add_argument("--seed", type=int, default=0)


class Data:
    """The graph in its folder; features are a dense x, and X's CSR rows where the folder has them."""

    def __init__(self, folder):
        import numpy as np
        import torch

        def read(name, dtype):
            return torch.from_numpy(np.fromfile(os.path.join(folder, name), dtype))

        with open(os.path.join(folder, "meta.json")) as f:
            meta = json.load(f)
        self.nodes, self.features, self.classes = meta["nodes"], meta["features"], meta["classes"]
        self.offsets, self.targets = read("offsets.i64", "<i8"), read("targets.i32", "<i4")
        if meta["sparse"]:
            self.rows = read("x_offsets.i64", "<i8"), read("x_columns.i32", "<i4"), read("x_values.f32", "<f4")
        else:
            self.rows, self.dense = None, read("x.f32", "<f4").view(self.nodes, self.features)
        self.labels = read("labels.i32", "<i4").long()
        self.train, self.validation = read("train.i32", "<i4").long(), read("validation.i32", "<i4").long()

    def x(self):
        """Dense features. Not kept: who works on sparse features only should not hold both."""
        if self.rows is None:
            return self.dense
        import torch
        offsets, columns, values = self.rows
        x = torch.zeros(self.nodes, self.features)
        x[torch.arange(self.nodes).repeat_interleave(offsets.diff()), columns.long()] = values
        return x

    def edge_index(self, loops=False):
        """[2, edges]: row 0 holds sources, row 1 the nodes they contribute to; sorted by the latter."""
        import torch
        every = torch.arange(self.nodes)
        edges = torch.stack([self.targets.long(), every.repeat_interleave(self.offsets.diff())])
        return torch.cat([edges, every.expand(2, -1)], 1) if loops else edges

    def adjacency(self):
        import torch
        return torch.sparse_csr_tensor(self.offsets, self.targets.long(), torch.ones(len(self.targets)),
                                       (self.nodes, self.nodes))


def widths(args, data):
    """Inputs and outputs of each layer."""
    outputs = [args.hidden] * (args.layers - 1) + [data.classes]
    return list(zip([data.features] + outputs[:-1], outputs))


def mlp(width, layers):
    from torch import nn
    steps = [nn.Linear(*width)]
    for _ in range(layers - 1):
        steps += [nn.ReLU(), nn.Linear(width[1], width[1])]
    return nn.Sequential(*steps)


def stack(args, data, convs, layer):
    """A model of layers, each called as layer(conv, h, delta); dropout before each, and an activation between."""
    import torch
    from torch.nn import functional as F

    class Stack(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = torch.nn.ModuleList(convs)
            self.x = data.x()

        def forward(self, delta):
            h = self.x
            for i, conv in enumerate(self.convs):
                if i > 0:
                    h = F.relu(h) if args.model == "gin" else F.elu(h)
                h = layer(conv, F.dropout(h, args.dropout, self.training), delta)
            return h

    return Stack()


def pyg(args, data):
    import torch
    import torch_geometric
    from torch_geometric.nn import GATConv, GINConv, MessagePassing
    version = f"{torch_geometric.__version__} (torch {torch.__version__})"
    sizes = widths(args, data)

    if args.model == "gin":
        edges = data.edge_index()
        if args.library == "pyg-csr":
            # PyG's own sparse form, told that the graph is symmetric so that it need not transpose for gradients.
            edges = torch_geometric.EdgeIndex(edges, sparse_size=(data.nodes, data.nodes), sort_order="col",
                                              is_undirected=True).fill_cache_()

        def layer(conv, h, delta):
            return conv(h if delta is None else (h * delta[:, None], h), edges)

        return stack(args, data, [GINConv(mlp(size, args.mlp_layers)) for size in sizes], layer), version

    edges = data.edge_index(loops=True)
    if args.model == "gat":
        class MaskedGAT(GATConv):
            delta = None

            def message(self, x_j, alpha, edge_index_j):
                if self.delta is not None:
                    alpha = alpha * self.delta[edge_index_j, None]
                return alpha.unsqueeze(-1) * x_j

        drop = args.attention_dropout if args.keep_rate == 1 else 0
        convs = [MaskedGAT(size[0], args.hidden // args.heads, args.heads, dropout=drop, add_self_loops=False)
                 for size in sizes[:-1]]
        convs += [MaskedGAT(*sizes[-1], dropout=drop, add_self_loops=False)]

        def layer(conv, h, delta):
            conv.delta = delta
            return conv(h, edges)
    else:
        class SGATConv(MessagePassing):
            def __init__(self, inputs, outputs):
                super().__init__(aggr="mean")
                self.lin = torch_geometric.nn.Linear(inputs, outputs, bias=False, weight_initializer="glorot")
                self.bias = torch.nn.Parameter(torch.zeros(outputs))

            def forward(self, h, delta, edges):
                h = self.lin(h)
                return self.propagate(edges, x=h if delta is None else h * delta[:, None]) + self.bias

        convs = [SGATConv(*size) for size in sizes]

        def layer(conv, h, delta):
            return conv(h, delta, edges)

    return stack(args, data, convs, layer), version


def dgl(args, data):
    os.environ["DGLBACKEND"] = "pytorch"
    import dgl
    import torch
    from dgl.nn.pytorch import GATConv, GINConv
    version = f"{dgl.__version__} (torch {torch.__version__})"
    sizes = widths(args, data)
    sources, targets = data.edge_index(loops=args.model == "gat")
    graph = dgl.graph((sources, targets), num_nodes=data.nodes)
    graph.create_formats_()

    if args.model == "gin":
        convs = [GINConv(mlp(size, args.mlp_layers), "sum") for size in sizes]

        def layer(conv, h, delta):
            return conv(graph, h if delta is None else (h * delta[:, None], h))

        return stack(args, data, convs, layer), version

    class Mask(torch.nn.Module):
        """Stands where attention dropout does: after the softmax."""

        def forward(self, alpha):
            return alpha if self.delta is None else alpha * self.delta[sources, None, None]

    drop = args.attention_dropout if args.keep_rate == 1 else 0
    convs = [GATConv(size[0], args.hidden // args.heads, args.heads, attn_drop=drop) for size in sizes[:-1]]
    convs += [GATConv(*sizes[-1], 1, attn_drop=drop)]
    if args.keep_rate < 1:
        for conv in convs:
            conv.attn_drop = Mask()

    def layer(conv, h, delta):
        conv.attn_drop.delta = delta
        return conv(graph, h).flatten(1)

    return stack(args, data, convs, layer), version


def torch_spmm(args, data):
    import torch
    adjacency = data.adjacency()

    def layer(conv, h, delta):
        h = torch.nn.functional.linear(h, conv[0].weight)
        h = h + torch.sparse.mm(adjacency, h if delta is None else h * delta[:, None]) + conv[0].bias
        return conv[1:](h)

    convs = [mlp(size, args.mlp_layers) for size in widths(args, data)]
    return stack(args, data, convs, layer), torch.__version__


class Trainer:
    """Runs epochs of a model that maps δ [nodes], or None, to logits [nodes, classes]."""

    def __init__(self, args, data, model):
        import torch
        self.args, self.data, self.model = args, data, model
        self.loss = getattr(model, "loss", self.cross_entropy)
        # CPUs have it from 2.4 on.
        fused = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 4)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate, weight_decay=args.weight_decay,
                                          fused=fused, foreach=not fused)

    def cross_entropy(self, logits, nodes):
        from torch.nn import functional as F
        return F.cross_entropy(logits[nodes], self.data.labels[nodes])

    def epoch(self, validate=False):
        import torch
        rate = self.args.keep_rate
        self.model.train()
        delta = (torch.rand(self.data.nodes) < rate).float() if rate < 1 else None
        self.optimizer.zero_grad()
        self.loss(self.model(delta), self.data.train).backward()
        self.optimizer.step()
        return self.validate() if validate else None

    def validate(self):
        import torch
        nodes, classes = self.data.validation, self.data.classes
        self.model.eval()
        with torch.no_grad():
            logits = self.model(None)
            loss = self.cross_entropy(logits, nodes).item()
            counts = torch.bincount(self.data.labels[nodes] * classes + logits[nodes].argmax(1), minlength=classes**2)
        counts = counts.view(classes, classes)
        both = counts.sum(0) + counts.sum(1)
        return loss, (2 * counts.diag() / both)[both > 0].mean().item()

    def run(self, epochs, validate):
        cpu, ms = time.process_time(), []
        for _ in range(epochs):
            start = time.perf_counter()
            self.epoch(validate)
            ms.append(1000 * (time.perf_counter() - start))
        unit = 1 << 20 if sys.platform == "darwin" else 1 << 10  # macOS has bytes, Linux kilobytes
        return {"ms": ms, "cpu_ms": 1000 * (time.process_time() - cpu) / max(epochs, 1),
                "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit}


def build(args):
    """Returns the trainer of what args ask for, the library's version and how it computes."""
    import torch
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    if args.dropout is None:
        args.dropout = 0.5 if args.model == "gin" else 0.6
    can = {"pyg-csr": ["gin"], "torch-spmm": ["gin"], "dgl": ["gin", "gat"]}.get(args.library, [args.model])
    if args.model not in can:
        raise NotImplementedError(f"{args.library} has no {args.model} here")
    data = Data(args.data)
    if args.library == "torch-csr":
        import csr
        return csr.fastest(args, data, Trainer, widths(args, data))
    libraries = {"pyg": pyg, "pyg-csr": pyg, "pyg-compile": pyg, "dgl": dgl, "torch-spmm": torch_spmm}
    model, version = libraries[args.library](args, data)
    if args.library == "pyg-compile":
        # Processes of its own that compile would count as the contender's, and outlive it.
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        model = torch.compile(model)
    return Trainer(args, data, model), version


def limit_memory():
    """Makes the allocation that no longer fits fail, so that it can be reported: the kernel would kill the process."""
    with open("/proc/meminfo") as f:
        available = next(int(line.split()[1]) for line in f if line.startswith("MemAvailable")) * 1024
    with open("/proc/self/status") as f:
        held = next(int(line.split()[1]) for line in f if line.startswith("VmData")) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (held + available * 9 // 10,) * 2)


def main():
    args = parser.parse_args()
    # Libraries write to stdout as they please; ours is for answers only.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    # Threads wait asleep. Spinning is faster on idle cores, but where others compute too, two threads that spin on one
    # core made epochs 20 times slower.
    for name, value in {"OMP_NUM_THREADS": args.threads, "MKL_NUM_THREADS": args.threads, "GOMP_SPINCOUNT": 0,
                        "KMP_BLOCKTIME": 0}.items():
        os.environ.setdefault(name, str(value))
    try:
        import torch  # noqa: F401: what it maps is no part of what may still be allocated
        limit_memory()
        trainer, version = build(args)
        start = time.perf_counter()
        # What compiles does so once for training, and once for validation: neither is to fall into an epoch that
        # counts.
        trainer.epoch(validate=args.library == "pyg-compile")
        first = time.perf_counter() - start
        print(json.dumps({"ready": True, "library": args.library, "version": version, "first_epoch_s": first}),
              file=answers)
        for line in sys.stdin:
            command, epochs = line.split()
            print(json.dumps(trainer.run(int(epochs), {"train": False, "validate": True}[command])), file=answers)
    except Exception as e:
        reason = str(e).strip() or type(e).__name__
        print(json.dumps({"error": f"{args.library}: {reason.splitlines()[0]}"}), file=answers)
        sys.exit(1)


if __name__ == "__main__":
    main()
