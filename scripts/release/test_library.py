"""Facts about the wheel's module: python -m unittest test_library, with PyTorch Geometric, NetworkX and the command."""

import pathlib
import tempfile
import unittest

import networkx
import numpy
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

import library

library.PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "bin/nodemask"


def village(n=90):
    """Features, edges and classes of three groups."""
    r, y = numpy.random.default_rng(1), numpy.arange(n) % 3
    source = numpy.repeat(numpy.arange(n), 3)
    target = numpy.where(r.random(3 * n) < 0.8, r.integers(0, 30, 3 * n) * 3 + y[source], r.integers(0, n, 3 * n))
    return (numpy.eye(3)[y] + r.normal(size=(n, 3))).astype("float32"), numpy.stack([source, target]), y


class Library(unittest.TestCase):
    settings = {"model": "gcn", "keep_rate": 0.5, "trials": 2, "train": 30, "setting": "transductive", "backend": "go"}

    def test_one_graph_in_three_forms_has_one_result(self):
        x, edges, y = village()
        data = Data(x=torch.from_numpy(x), edge_index=torch.from_numpy(edges), y=torch.from_numpy(y))
        graph = networkx.Graph([(f"p{u}", f"p{v}") for u, v in edges.T])
        named = networkx.Graph()
        for v in range(len(y)):
            named.add_node(f"p{v}", label="abc"[y[v]], f0=x[v, 0], f1=x[v, 1], f2=x[v, 2])
        named.add_edges_from(graph.edges)
        one, *others = (library.train(d, **self.settings) for d in ((x, edges, y), data, named))
        self.assertEqual(len(one.f1), 2)
        self.assertEqual(others[1].ids[:2] + others[1].classes, ["p0", "p1", "a", "b", "c"])
        for other in others:
            self.assertTrue(torch.equal(one.logits, other.logits))
            self.assertTrue(torch.equal(one.f1, other.f1))

    def test_its_weights_are_what_pytorch_geometric_computes_the_same_with(self):
        x, edges, y = village()
        with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
            trained = library.train((x, edges, y), save=file.name, **self.settings)
            self.assertIn("layer1.weights", library.read_safetensors(pathlib.Path(file.name))[1])
        own = edges[0] != edges[1]
        both = torch.from_numpy(numpy.unique(numpy.concatenate([edges[:, own], edges[::-1, own]], 1), axis=1))
        h = torch.from_numpy(x / numpy.abs(x).sum(1, keepdims=True))
        for layer in range(2):
            w = trained.weights[f"layer{layer}.weights"]
            conv = GCNConv(*w.shape)
            conv.lin.weight.data, conv.bias.data = w.T, trained.weights[f"layer{layer}.biases"][0]
            h = conv(h if layer == 0 else torch.relu(h), both)
        torch.testing.assert_close(h, trained.logits, atol=1e-5, rtol=1e-4)
        self.assertTrue(torch.equal(trained.predictions, trained.logits.argmax(1)))

    def test_what_cannot_be_is_refused_in_the_commands_words(self):
        for data, settings, words in (
            (village(), {"model": "gon"}, 'no model "gon"'), (3, {}, "data is a int"),
            (village()[:1] * 3, {}, "expected x"), ("nowhere", {}, "no such data set"),
            (village(), {"kep_rate": 1}, "unknown flag: --kep-rate"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), words.replace("?", r"\?")):
                library.train(data, **settings)


if __name__ == "__main__":
    unittest.main()
