"""Times cells of the notebooks' kind, headless: python scripts/lab/time_cells.py [--plain|--saved] [--rounds N]
[PROJECT ...].

Each cell is timed from when it is sent until the kernel is idle again, its output shown. With several clones of the
project, each set up by 'make setup-lab', they take turns cell by cell, so that what else the machine does slows all
alike. It slows processor time least.
"""

import argparse
import os
import pathlib
import queue
import statistics
import sys
import time

import psutil
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager

CELLS = [
    'nb.Figure("transductive")',
    'nb.Figure("inductive")',
    'nb.Figure("trees")',
    'nb.Figure("cached")',
    'nb.ExplorePaper()',
    'nb.Tree(nb.Data("cora"), 5, 2)',
    'nb.Tree(nb.Data("cora"), 163, 2, 5)',
    'nb.Explore(nb.Data("cora"), 5, 2)',
    'nb.TreeSizes(nb.Data("cora"), 163, 9)',
    'nb.MaskingCurves(nb.Data("cora"), 5, 2)',
    'nb.Twins(nb.Data("cora"), 3, false)',
    'nb.Source("nmgnn", "GIN")',
    'nb.Artifact("table-gat")',
    'nb.Artifact("table-gin-cora")\nnb.Claims("table-gin-cora")',
    'nb.Artifact("fig-depth")',
    'nb.Claims("fig-keep-rate-gin")',
    'nb.Answers()',
    'plain := record.NewCell("cora", "gin", datasets.Transductive, 10)\nnb.Compare(plain, plain.Masked(0.5))',
    'cell := record.NewCell("cora", "sgat", datasets.Transductive, 10)\nr := nb.Recorded()\n'
    'nb.Rows("MAD", []string{"model", "mean"}, []any{"SGAT", nb.Mean(r.Values(cell, record.MADSoftmax))})',
    'g := nb.Data("cora")\nnb.Rows("Cora", []string{"what", "number"}, []any{"nodes", g.Edges.NumNodes()}, '
    '[]any{"classes", g.NumClasses()})',
]
# Tables, figures and claims of what is saved, each asked for once.
SAVED = [f'nb.Artifact("{name}")' for name in (
    "table-gat", "table-gat-citeseer", "table-validation", "table-gin-cora", "table-gin-citeseer", "table-gin-pubmed",
    "table-mad",
    "table-scale-cora", "table-scale-pubmed", "table-models", "table-regularisers", "table-scores", "fig-keep-rate-gin",
    "fig-keep-rate-gat", "fig-depth")]
SAVED += [f'nb.Claims("{name}")' for name in ("table-gat", "table-gin-cora", "fig-keep-rate-gin", "fig-depth")]
SAVED += ["nb.Answers()"]
PLAIN = [f'fmt.Println("cell", {n})' for n in range(20)]


class Kernel:
    """A running kernel of a clone."""

    def __init__(self, project, **environment):
        self.begun = time.monotonic()
        specs = KernelSpecManager(kernel_dirs=[str(project / ".nodemask/lab/share/jupyter/kernels")])
        self.manager = KernelManager(kernel_name="nodemask", kernel_spec_manager=specs)
        env = {"PJRT_PLUGIN_LIBRARY_PATH": "", **os.environ, **environment}
        with open(os.devnull, "w") as nowhere:
            self.manager.start_kernel(cwd=str(project / "notebooks"), env=env, stdout=nowhere, stderr=nowhere)
        self.process = psutil.Process(self.manager.provisioner.process.pid)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        # kernel.py runs gonb.
        self.process = next((c for c in self.process.children() if c.name() == "gonb"), self.process)

    def spent(self):
        """The processor time of gonb and of what it has run, in seconds. gopls, which it starts, is not in it."""
        t = self.process.cpu_times()
        return t.user + t.system + t.children_user + t.children_system

    def times(self, code, head="%%\n"):
        """How long a cell takes, and how much processor time. Ends the program if it fails or shows nothing."""
        said, shown, spent, start = "", False, self.spent(), time.monotonic()
        request = self.client.execute(head + code)
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=300)
            except queue.Empty:
                sys.exit(f"time_cells: no end within 300 s: {code}")
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                said, shown = said + content["text"], True
            elif kind == "error":
                said += "\n".join(content["traceback"])
                sys.exit(f"time_cells: {code}\n{said}")
            elif kind in ("display_data", "execute_result"):
                shown = True
            elif kind == "status" and content["execution_state"] == "idle":
                if not shown:
                    print(f"time_cells: nothing came out of {code}", file=sys.stderr)
                return time.monotonic() - start, self.spent() - spent

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel()


def main():
    p = argparse.ArgumentParser(prog="time_cells", description="Time cells of the notebooks' kind, headless.")
    p.add_argument("projects", nargs="*", type=pathlib.Path, default=[pathlib.Path(__file__).resolve().parents[2]],
        help="clones of the project (default: this one)")
    p.add_argument("--plain", action="store_true", help="cells that import fmt alone, for comparison")
    p.add_argument("--saved", action="store_true", help="cells that show what is saved alone: tables, figures, claims")
    p.add_argument("--rounds", type=int, default=1, help="how often all cells are run (default 1)")
    a = p.parse_args()
    kernels, times = [], []
    try:
        for project in a.projects:
            kernels.append(kernel := Kernel(project.resolve()))
            times.append([])
            # It compiles what the build cache lacks: once that is full, this is the first cell of a session.
            seconds, processor = kernel.times('nb.Artifact("table-gat")')
            print(f"{project}: first cell {seconds:.2f} s, {processor:.2f} of a processor; "
                  f"{time.monotonic() - kernel.begun:.2f} s with the kernel's start")
        for code in (PLAIN if a.plain else SAVED if a.saved else CELLS) * a.rounds:
            for kernel, all_times in zip(kernels, times):
                all_times.append(kernel.times(code))
            print("  ".join(f"{t[-1][0]:6.2f}" for t in times), " ", code.splitlines()[0][:60], flush=True)
    finally:
        for kernel in kernels:
            kernel.end()
    for project, t in zip(a.projects, times):
        seconds, processor = zip(*t)
        print(f"{project}: median {statistics.median(seconds):.2f} s of {len(t)} cells ({min(seconds):.2f} to "
              f"{max(seconds):.2f}), {statistics.median(processor):.2f} s of processor time")


if __name__ == "__main__":
    main()
