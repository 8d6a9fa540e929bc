"""Check exported models with onnx and ONNX Runtime, and write checked.json: which models they agreed with.

Run it in the project's folder with

    python3 -m venv /tmp/onnx && /tmp/onnx/bin/pip install -r nmgnn/onnx/testdata/check_onnx.requirements.txt
    NODEMASK_ONNX=/tmp/onnx/models go test ./nmgnn/onnx -count 1 -run 'ModelsAreWritten|SmallModel' -update
    /tmp/onnx/bin/python nmgnn/onnx/testdata/check_onnx.py /tmp/onnx/models

The test writes each model and models.json: graphs that the models never saw, and the logits that nodemask computes on
them. Each model must pass onnx.checker with shape inference, and name its inputs and output as the documentation
says. Each graph goes through ONNX Runtime, with one thread and with four, and through onnx's own reference; so does
each with a self-loop added to every node, which must change nothing. Logits must be within 1e-4. Features a thousand
times as large must give finite logits, too.

checked.json has the SHA-256 of each model and the greatest difference that ONNX Runtime had; tests hold what is
exported to it.
"""

import hashlib
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

TOLERANCE = 1e-4
HERE = pathlib.Path(__file__).parent


def inputs(g):
    """The features and edges of a graph."""
    x = np.zeros((g["nodes"], g["width"]), np.float32)
    x[g["rows"] or [], g["columns"] or []] = g["values"] or []
    return x, np.array([g["edges"][0] or [], g["edges"][1] or []], np.int64)


def session(file, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def check(file, graphs):
    """Returns the greatest differences of ONNX Runtime and of the reference."""
    model = onnx.load_from_string(file)
    onnx.checker.check_model(model, full_check=True)
    assert [i.name for i in model.graph.input] == ["x", "edge_index"], "inputs"
    assert [o.name for o in model.graph.output] == ["logits"], "outputs"
    props = {p.key: p.value for p in model.metadata_props}
    classes = json.loads(props["classes"])
    assert json.loads(props["settings"])["model"] == model.graph.name, "settings"
    sessions = [session(file, 1), session(file, 4)]
    assert sessions[0].get_modelmeta().custom_metadata_map == props
    reference = ReferenceEvaluator(model)
    greatest = [0.0, 0.0]
    for g in graphs:
        x, edges = inputs(g)
        loops = np.repeat(np.arange(g["nodes"])[None], 2, 0)
        want = np.array(g["logits"], np.float32).reshape(g["nodes"], len(classes))
        for feed in ({"x": x, "edge_index": edges}, {"x": x, "edge_index": np.concatenate([loops, edges], 1)}):
            runs = [(0, s.run(["logits"], feed)[0]) for s in sessions]
            runs.append((1, reference.run(["logits"], feed)[0]))
            for which, got in runs:
                assert got.shape == want.shape and np.isfinite(got).all(), g["name"]
                greatest[which] = max(greatest[which], float(np.abs(got - want).max()))
        large = sessions[0].run(["logits"], {"x": 1000 * x, "edge_index": edges})[0]
        assert np.isfinite(large).all(), g["name"]
    assert max(greatest) <= TOLERANCE, greatest
    return greatest


def main(folder):
    folder = pathlib.Path(folder)
    found = {}
    for name, m in json.loads((folder / "models.json").read_text()).items():
        file = (folder / m["file"]).read_bytes()
        try:
            runtime, reference = check(file, m["graphs"])
        except Exception as e:
            raise SystemExit(f"{name}: {e}") from e
        found[name] = {"sha256": hashlib.sha256(file).hexdigest(), "difference": float(f"{runtime:.2g}")}
        print(f"{name}: {len(m['graphs'])} graphs, {len(file)} bytes, onnxruntime {runtime:.2g}, reference {reference:.2g}")
    golden = hashlib.sha256((HERE / "gin.onnx").read_bytes()).hexdigest()
    assert golden == found["gin"]["sha256"], "gin.onnx is another model"
    text = {"onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__, "models": found}
    (HERE / "checked.json").write_text(json.dumps(text, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
