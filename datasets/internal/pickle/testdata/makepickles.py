"""Write the small pickles that the tests of the pickle reader start from.

    python3 -m pip install numpy==2.4.6 scipy==1.17.1
    python3 makepickles.py            # writes pickles/*.pickle beside this script

Every value is written in protocol 3, and the graph in 2 as well. Python 3 does not write Python 2's byte strings, so
"python2-*" is put together here opcode by opcode, in the layout of Planetoid's own files, which are in protocol 2.
"""

import collections
import pathlib
import pickle
import struct

import numpy
import scipy.sparse

OUT = pathlib.Path(__file__).parent / "pickles"


def defaultdict():
    graph = collections.defaultdict(list)
    for node, near in {0: [1, 2], 1: [0], 2: [0, 2, 2], 3: []}.items():
        graph[node] = near
    return graph


VALUES = {
    "matrix": scipy.sparse.csr_matrix(numpy.array([[0, 1.5, 0], [0, 0, 0], [2, 0, -3]], dtype=numpy.float32)),
    "labels": numpy.array([[1, 0], [0, 0], [0, 1]], dtype=numpy.int32),
    "bigendian": numpy.array([[1, 0], [0, 1]], dtype=">i8"),
    "graph": defaultdict(),
}


def short(s):
    return b"U" + bytes([len(s)]) + s


def array(shape, dtype, data):
    dims = b"".join(b"K" + bytes([n]) for n in shape) + (b"\x85" if len(shape) == 1 else b"\x86")
    kind = b"cnumpy\ndtype\n" + short(dtype) + b"K\x00K\x01\x87R(K\x03" + short(
        b"<") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    head = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01"
    return head + dims + kind + b"\x89T" + struct.pack("<I", len(data)) + data + b"tb"


def python2_matrix():
    m = VALUES["matrix"]
    parts = {b"indptr": (m.indptr, b"i4"), b"indices": (m.indices, b"i4"), b"data": (m.data, b"f4")}
    state = short(b"format") + short(b"csr") + short(b"_shape") + b"K\x03K\x03\x86"
    for name, (a, dtype) in parts.items():
        state += short(name) + array(a.shape, dtype, a.tobytes())
    return b"\x80\x02cscipy.sparse.csr\ncsr_matrix\nq\x01)\x81q\x02}q\x03(" + state + b"ub."


def main():
    OUT.mkdir(exist_ok=True)
    for name, value in VALUES.items():
        for protocol in [2, 3] if name == "graph" else [3]:
            (OUT / f"{name}-{protocol}.pickle").write_bytes(pickle.dumps(value, protocol))
    (OUT / "python2-matrix.pickle").write_bytes(python2_matrix())
    (OUT / "python2-labels.pickle").write_bytes(b"\x80\x02" + array((3, 2), b"i4", VALUES["labels"].tobytes()) + b".")


main()
