"""Writes the npz files of this folder with numpy and scipy themselves (made with numpy 2.4.6)."""
import numpy as np
import scipy.sparse as sp

adj = sp.csr_matrix(np.array([[0, 1, 0], [1, 0, 0], [0, 1, 1]], dtype=np.float32))
attr = sp.csr_matrix(np.array([[0, 0.5, 0, 0], [0, 0, 0, 0], [2, 0, 0, -1]], dtype=np.float64))
graph = dict(
    adj_data=adj.data, adj_indices=adj.indices, adj_indptr=adj.indptr, adj_shape=adj.shape,
    attr_data=attr.data, attr_indices=attr.indices, attr_indptr=attr.indptr, attr_shape=attr.shape,
    labels=np.array(["pear", "apple", "apple"]), node_names=np.array(["α", "b", "c"]),
)
np.savez("plain.npz", **graph)
np.savez_compressed("compressed.npz", **graph)

# A ring of four nodes, as DGL and PyG distribute Reddit.
ring = sp.coo_matrix(np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]], dtype=np.int64))
sp.save_npz("reddit_graph.npz", ring)
np.savez(
    "reddit_data.npz", feature=np.arange(12, dtype=np.float64).reshape(4, 3) / 2, node_types=np.array([1, 1, 2, 3]),
    node_ids=np.arange(4), label=np.array([0, 1, 1, 0]),
)
