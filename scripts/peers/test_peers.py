#!/usr/bin/env python3
"""Checks torch-csr's outputs and gradients against PyG's on small random graphs, with and without a mask."""
import itertools
import tempfile

import torch

import csr
import make_test_data
import peers

kernels = csr.load_kernels()


def pairs(model, conv, layer):
    """The parameters of a PyG layer and a layer of csr.py that are the same, and how to turn the former into the
    latter."""
    def transpose(w):
        return w.t()

    def same(b):
        return b

    if model == "gin":
        for linear, w, b in zip(conv.nn[::2], layer.weights, layer.biases):
            yield (linear.weight,), w, transpose
            yield (linear.bias,), b, same
        return
    yield (conv.lin.weight,), layer.weights[0], transpose
    yield (conv.bias,), layer.biases[0], same
    if model == "gat":
        yield (conv.att_src, conv.att_dst), layer.a, lambda *a: torch.cat(a)


def check(folder, model, keep_rate, *options, features="kernels", sums="kernels"):
    args = peers.parser.parse_args(["pyg", "--data", folder, "--model", model, "--keep-rate", str(keep_rate),
                                    "--dropout", "0", "--attention-dropout", "0", *options])
    data = peers.Data(folder)
    theirs, _ = peers.pyg(args, data)
    ours = csr.Model(args, data, peers.widths(args, data), kernels, features, sums)
    matching = [pair for conv, layer in zip(theirs.convs, ours.layers) for pair in pairs(model, conv, layer)]
    assert len(matching) == len(list(ours.parameters()))
    with torch.no_grad():
        for parameters, own, turn in matching:
            for parameter in parameters:
                parameter.copy_(torch.randn_like(parameter) / 4)
            own.copy_(turn(*parameters))
    delta = (torch.rand(data.nodes) < keep_rate).float() if keep_rate < 1 else None
    trainers = [peers.Trainer(args, data, each) for each in (theirs, ours)]
    logits = [each.model(delta) for each in trainers]
    losses = [each.loss(out, data.train) for each, out in zip(trainers, logits)]
    for loss in losses:
        loss.backward()
    torch.testing.assert_close(logits[1], logits[0], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(losses[1], losses[0], rtol=1e-5, atol=1e-5)
    for parameters, own, turn in matching:
        torch.testing.assert_close(own.grad, turn(*(p.grad for p in parameters)), rtol=1e-5, atol=1e-5)


def check_dropout():
    """Dropped shares are p, what is left is scaled, and the backward pass drops what the forward pass did."""
    n, p = 300, 0.3
    x = torch.arange(n + 1) * n, torch.arange(n, dtype=torch.int32).repeat(n), torch.ones(n * n)
    y = kernels.times(*x, torch.eye(n), p, 7)
    assert abs((y == 0).float().mean() - p) < 0.01
    torch.testing.assert_close(y[y != 0], torch.full_like(y[y != 0], 1 / (1 - p)))
    torch.testing.assert_close(kernels.times_backward(*x, torch.eye(n), n, p, 7), y.t())

    offsets, targets = torch.zeros(n + 1, dtype=torch.long), torch.empty(0, dtype=torch.int32)
    for activation in csr.NONE, csr.RELU, csr.ELU:
        h, bias = torch.randn(n, 64), torch.randn(64)
        out = kernels.propagate(offsets, offsets[1:], targets, None, None, h, bias, activation, p, 9)
        z = (h + bias).requires_grad_()
        dense = z if activation == csr.NONE else z.relu() if activation == csr.RELU else torch.nn.functional.elu(z)
        if activation == csr.NONE:  # what stands last is not dropped
            continue
        kept = kernels.propagate(offsets, offsets[1:], targets, None, None, torch.ones(n, 64), torch.zeros(64),
            csr.RELU, p, 9)
        torch.testing.assert_close(out, dense * kept)
        dout = torch.randn(n, 64)
        (dense * kept).backward(dout)
        torch.testing.assert_close(kernels.finish_backward(dout, out, activation, p, 9)[0], z.grad, rtol=1e-4,
            atol=1e-5)


def main():
    torch.manual_seed(1)
    checks = 0
    for seed, sizes in enumerate([(50, 120, 40, 5, 4, 20), (200, 300, 90, 7, 7, 60)]):
        with tempfile.TemporaryDirectory() as folder:
            make_test_data.make(folder, *sizes, seed=seed)
            shapes = [(), ("--hidden", "6", "--heads", "3", "--layers", "3"), ("--hidden", "16", "--mlp-layers", "2")]
            for model, rate, shape in itertools.product(["gin", "gat", "sgat"], [1, 0.5], shapes):
                ways = [("kernels", "kernels"), ("dense", "kernels")] + [("mkl", "mkl")] * (model == "gin")
                for features, sums in ways:
                    check(folder, model, rate, *shape, features=features, sums=sums)
                    checks += 1
    check_dropout()
    print(f"torch-csr equals PyG in {checks} set-ups")


main()
