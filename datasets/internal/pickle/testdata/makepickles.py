"""Write the small pickles that the tests of the pickle reader start from.

    python3 -m pip install numpy==2.4.6 scipy==1.17.1
    python3 makepickles.py            # writes pickles/*.pickle beside this script

Every value is written in protocols 0 to 3. Python 3 does not write Python 2's byte strings, so "python2-*" is put
together here opcode by opcode, in the layout of Planetoid's own files. numpy.float32 scalars go through numpy's
"scalar", and bytes in protocols 0 to 2 through "_codecs.encode".
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
    "scalars": [numpy.float32(0.5), numpy.int64(-7), True, None, 2.25, -1, 300, 70000, 2**40, -(2**40), "h\u00e9\u20ac\n'", b"\x00\xff'\\"],
}


def short(s):
    return b"U" + bytes([len(s)]) + s


def array(shape, dtype, data):
    dims = b"".join(b"K" + bytes([n]) for n in shape) + (b"\x85" if len(shape) == 1 else b"\x86")
    kind = b"cnumpy\ndtype\n" + short(dtype) + b"K\x00K\x01\x87R(K\x03" + short(b"<") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    return b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01" + dims + kind + b"\x89T" + struct.pack("<I", len(data)) + data + b"tb"


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
        for protocol in range(4):
            (OUT / f"{name}-{protocol}.pickle").write_bytes(pickle.dumps(value, protocol))
    (OUT / "python2-matrix.pickle").write_bytes(python2_matrix())
    (OUT / "python2-labels.pickle").write_bytes(b"\x80\x02" + array((3, 2), b"i4", VALUES["labels"].tobytes()) + b".")
    (OUT / "python2-strings.pickle").write_bytes(b"(lp0\nS'a\\x00\\n\\'b'\np1\naS\"it's\"\np2\naI01\naL5L\naF1.5\na.")


main()
