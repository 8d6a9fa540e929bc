"""torch-csr: what PyTorch can be tuned to. Each layer multiplies by its weights before it sums over neighbours, sparse
features stay sparse and lose only nonzeros to dropout, and the sums, the products with sparse features and what
surrounds them are loops of kernels.cpp, or MKL's CSR products."""
import os
import random
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

NONE, RELU, ELU = 0, 1, 2


def load_kernels():
    """The compiled kernels.cpp, built once a virtual environment."""
    from torch.utils import cpp_extension
    folder = os.path.join(sys.prefix, "peers-kernels")
    os.makedirs(folder, exist_ok=True)
    os.environ["PATH"] = os.path.join(sys.prefix, "bin") + os.pathsep + os.environ["PATH"]  # of ninja
    # OpenMP is not linked: the loops are to run in the threads that torch has already.
    return cpp_extension.load("peers_kernels", [os.path.join(os.path.dirname(os.path.abspath(__file__)),
        "kernels.cpp")],
                              extra_cflags=["-O3", "-march=native", "-ffast-math", "-fopenmp", "-std=c++17"],
                              build_directory=folder)


def seed():
    return random.getrandbits(31)


class Times(torch.autograd.Function):
    """dropout(X)·w of sparse X."""

    @staticmethod
    def forward(ctx, w, kernels, x, p):
        ctx.rest = kernels, x, len(w), p, seed()
        return kernels.times(*x, w, p, ctx.rest[-1])

    @staticmethod
    def backward(ctx, dy):
        kernels, x, features, p, seed = ctx.rest
        return kernels.times_backward(*x, dy.contiguous(), features, p, seed), None, None, None


class TimesMKL(torch.autograd.Function):
    """The same with MKL: order says where the transpose has each of X's nonzeros."""

    @staticmethod
    def forward(ctx, w, x, transposed, order, p):
        values = F.dropout(x[2], p)
        ctx.rest = (*transposed, values[order]), (len(w), len(x[0]) - 1)
        return torch.sparse_csr_tensor(x[0], x[1], values, ctx.rest[1][::-1], check_invariants=False) @ w

    @staticmethod
    def backward(ctx, dy):
        x, shape = ctx.rest
        return torch.sparse_csr_tensor(*x, shape, check_invariants=False) @ dy, None, None, None, None


class SumMKL(torch.autograd.Function):
    """h + A·(δ∘h)."""

    @staticmethod
    def forward(ctx, h, adjacency, delta):
        ctx.rest = adjacency, delta
        return h + adjacency @ (h if delta is None else h * delta[:, None])

    @staticmethod
    def backward(ctx, dy):
        adjacency, delta = ctx.rest
        dh = adjacency @ dy
        return dy + (dh if delta is None else dh.mul_(delta[:, None])), None, None


class Propagate(torch.autograd.Function):
    """dropout(activation(bias + sum over neighbours)); graph is (offsets, targets, δ, ends, live, root, scale)."""

    @staticmethod
    def forward(ctx, h, bias, kernels, graph, activation, p):
        offsets, targets, delta, ends, live, root, scale = graph
        ctx.rest = kernels, (offsets, targets, delta, root, scale), (activation, p, seed())
        out = kernels.propagate(offsets, ends, live, root, scale, h, bias, *ctx.rest[2])
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, dout):
        kernels, graph, finish = ctx.rest
        dz, dbias = kernels.finish_backward(dout, *ctx.saved_tensors, *finish)
        return kernels.propagate_backward(*graph, dz), dbias, None, None, None, None


class Attend(torch.autograd.Function):
    """GAT's layer after the product with its weights; a is [2, heads, channels], of sources and of targets."""

    @staticmethod
    def forward(ctx, h, a, bias, kernels, graph, activation, p, attention_p):
        offsets, targets, reverse, delta = graph
        ctx.rest = kernels, graph, (activation, p, seed()), (attention_p, seed())
        out, alpha, scores = kernels.attend(offsets, targets, delta, h, a, bias, *ctx.rest[3], *ctx.rest[2])
        ctx.save_for_backward(h, a, out, alpha, scores)
        return out

    @staticmethod
    def backward(ctx, dout):
        kernels, graph, finish, attention = ctx.rest
        h, a, out, alpha, scores = ctx.saved_tensors
        dz, dbias = kernels.finish_backward(dout, out, *finish)
        dh, da = kernels.attend_backward(*graph, h, a, alpha, scores, dz, *attention)
        return dh, da, dbias, None, None, None, None, None


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, kernels, labels, nodes):
        loss, gradient = kernels.cross_entropy(logits, labels, nodes)
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(ctx, dloss):
        return ctx.saved_tensors[0].mul_(dloss), None, None, None


class Layer(nn.Module):
    """The weights of one layer, [inputs, outputs] each: those of an MLP, or one with attention."""

    def __init__(self, width, mlp_layers, heads):
        super().__init__()
        inputs = [width[0]] + [width[1]] * (mlp_layers - 1)
        self.weights = nn.ParameterList([nn.Parameter(nn.Linear(n, width[1]).weight.detach().t().contiguous())
            for n in inputs])
        self.biases = nn.ParameterList([nn.Parameter(torch.zeros(width[1])) for _ in inputs])
        if heads > 0:
            self.a = nn.Parameter(torch.empty(2, heads, width[1] // heads))
            nn.init.xavier_uniform_(self.a)


class Model(nn.Module):
    """features and sums say what computes: "kernels", "mkl" or, for features, "dense"."""

    def __init__(self, args, data, widths, kernels, features, sums):
        super().__init__()
        self.args, self.data, self.kernels, self.features, self.sums = args, data, kernels, features, sums
        heads = [args.heads] * (args.layers - 1) + [1] if args.model == "gat" else [0] * args.layers
        depth = args.mlp_layers if args.model == "gin" else 1
        self.layers = nn.ModuleList([Layer(width, depth, h) for width, h in zip(widths, heads)])
        if features == "dense":
            self.x = data.x()
        else:
            self.x = data.rows or csr_rows(data.x())
        if features == "mkl":
            # MKL takes indices as wide as its own.
            offsets, columns, values = self.x = self.x[0].int(), self.x[1], self.x[2]
            rows = torch.arange(data.nodes, dtype=torch.int32).repeat_interleave(offsets.diff())
            self.order = torch.argsort(columns, stable=True)
            counts = torch.bincount(columns, minlength=data.features)
            self.transposed = F.pad(counts.cumsum(0), (1, 0)).int(), rows[self.order]
        if sums == "mkl":
            self.adjacency = torch.sparse_csr_tensor(data.offsets.int(), data.targets, torch.ones(len(data.targets)),
                                                     (data.nodes, data.nodes))
        if args.model == "gat":
            self.reverse = kernels.reverses(data.offsets, data.targets)
        if args.model == "sgat":
            self.scale = 1 / (data.offsets.diff() + 1).float()

    def loss(self, logits, nodes):
        if self.sums == "mkl":
            return F.cross_entropy(logits[nodes], self.data.labels[nodes])
        return CrossEntropy.apply(logits, self.kernels, self.data.labels, nodes)

    def first_product(self, w, p):
        if self.features == "dense":
            return F.dropout(self.x, p) @ w
        if self.features == "mkl":
            return TimesMKL.apply(w, self.x, self.transposed, self.order, p)
        return Times.apply(w, self.kernels, self.x, p)

    def forward(self, delta):
        args, data, last = self.args, self.data, len(self.layers) - 1
        p = args.dropout if self.training else 0
        offsets, targets, ends, live = data.offsets, data.targets, data.offsets[1:], data.targets
        if delta is not None and self.sums == "kernels" and args.model != "gat":
            ends, live = self.kernels.compact(offsets, targets, delta)
        for i, layer in enumerate(self.layers):
            w, b = layer.weights[0], layer.biases[0]
            z = h @ w if i > 0 else self.first_product(w, p)  # noqa: F821: dropout of h came with the layer before
            deep = len(layer.weights) > 1
            # Of what follows, how much the sum's own loop may do.
            fused = (RELU, 0) if deep else (NONE, 0) if i == last else (RELU if args.model == "gin" else ELU, p)
            if args.model == "gat":
                drop = args.attention_dropout if args.keep_rate == 1 and self.training else 0
                h = Attend.apply(z, layer.a, b, self.kernels, (offsets, targets, self.reverse, delta), *fused, drop)
            elif self.sums == "mkl":
                h = SumMKL.apply(z, self.adjacency, delta) + b
                if fused[0]:
                    h = F.dropout(h.relu_(), fused[1])
            else:
                root, scale = (delta, self.scale) if args.model == "sgat" else (None, None)
                h = Propagate.apply(z, b, self.kernels, (offsets, targets, delta, ends, live, root, scale), *fused)
            for j in range(1, len(layer.weights)):
                h = torch.addmm(layer.biases[j], h, layer.weights[j])
                if j < len(layer.weights) - 1 or i < last:
                    h = h.relu_()
            if deep and i < last:
                h = F.dropout(h, p)
        return h


def csr_rows(x):
    rows = x.to_sparse_csr()
    return rows.crow_indices(), rows.col_indices().int(), rows.values()


def fastest(args, data, trainer, widths):
    """The trainer of the way that is fastest here, for layers of these widths, and the version that names it."""
    nonzero = len(data.rows[2]) if data.rows else int(data.dense.count_nonzero())
    density = nonzero / (data.nodes * data.features)
    ways = [("kernels", "kernels")] if density < 0.5 else []
    if density > 0.05:
        ways.append(("dense", "kernels"))
    if args.model == "gin" and density < 0.5:
        ways.append(("mkl", "mkl"))
    asked = os.environ.get("PEERS_CSR")
    if asked:
        ways = [tuple(asked.split(","))]
    kernels, tried = load_kernels(), []
    for features, sums in ways:
        candidate = trainer(args, data, Model(args, data, widths, kernels, features, sums))
        candidate.epoch()
        times = []
        for _ in range(5 if len(ways) > 1 else 0):
            start = time.perf_counter()
            candidate.epoch()
            times.append(time.perf_counter() - start)
        tried.append((min(times, default=0), f"{features} features, {sums} sums", candidate))
        del candidate
    _, name, best = min(tried, key=lambda way: way[0])
    return best, f"{torch.__version__} ({name})"
