"""Runs notebooks headless, and finds what goes wrong without saying so."""

import asyncio
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import uuid

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from sources import Fault, read, write_whole

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
import kernel as guard

# A cell that calls one of these shows something, so its output must be there.
SHOWS = re.compile(
    r"\b(?:incell\.Train|nb\.(SVG|HTML|Markdown|Table|Chart|Rows|Tree|Figure|Explore\w*|Train\w*|Compare|"
    r"Artifact|Claims|Summary|Source|TreeSizes|CheckTree|MaskingCurves|"
    r"Repetition|Twins))\("
)
# Lines that say nothing by themselves: rulers and exit statuses.
NO_REASON = re.compile(r"-----|exit status")
# What the results of a notebook depend on beside itself.
ENVIRONMENT = ("GOMLX_BACKEND", "NODEMASK_SMALL", "NODEMASK_DATA", "PJRT_PLUGIN_LIBRARY_PATH", "XLA_FLAGS")
NOT_SOURCE = {".git", ".nodemask", "bin", "reports", "notebooks", "docs", "docker", "scripts", "tools", "testdata"}


class LostOutput(Fault):
    """A cell's output did not arrive."""


def sources_hash(project, kernel):
    """A hash of everything that any notebook's results depend on: Go's sources and the data beside them, recorded
    results, and the kernel."""
    h = hashlib.sha256()
    for folder, folders, files in os.walk(project):
        folders[:] = sorted(f for f in folders if f not in NOT_SOURCE)
        for name in sorted(files):
            path = pathlib.Path(folder) / name
            if name.endswith((".md", "_test.go")) or name.startswith("."):
                continue
            h.update(f"{path.relative_to(project)}\0".encode())
            h.update(path.read_bytes() + b"\0")
    for path in (pathlib.Path(__file__), kernel / "kernel.json", kernel.parents[3] / "installed",
        kernel.parents[3] / "kernel-installed"):
        h.update(path.read_bytes())
    for name in ENVIRONMENT:
        h.update(f"{name}={os.environ.get(name)}\0".encode())
    return h.hexdigest()


def key(path, sources):
    return hashlib.sha256(sources.encode() + path.read_bytes()).hexdigest()


def first_line(text):
    """The first line that says something, without colours."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()]
    return next((line for line in lines if line and not NO_REASON.match(line)), "no reason given")


def problem_of(name, number, cell):
    """The exception for a cell that failed: what it wrote to stderr says more than its exit status."""
    said = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stderr")
    said += "".join(o.evalue + "\n" + "\n".join(o.traceback) for o in cell.outputs if o.output_type == "error")
    return Fault(f"{name}, cell {number}: {first_line(said)}")


def check_outputs(name, notebook):
    """Raises what a run did not: shell commands that failed, and outputs that are not there."""
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type != "code":
            continue
        for o in cell.outputs:
            if o.output_type == "error" or (o.output_type == "stream" and o.name == "stderr"
                and "exit status" in o.text):
                raise problem_of(name, number, cell)
        if "silent" in cell.metadata.get("tags", []):
            continue
        shown = [o for o in cell.outputs if o.output_type in ("display_data", "execute_result")]
        printed = [o for o in cell.outputs if o.output_type == "stream" and o.name == "stdout" and o.text.strip()]
        if not shown and (SHOWS.search(cell.source) or not printed):
            raise LostOutput(
                f"{name}, cell {number}: nothing came out of it (tag it 'silent' if that is as it should be)")


async def end_leftovers(mark, patience=30.0):
    """Waits for the processes of a run to end, and ends those that do not. Returns what those were."""
    until = time.monotonic() + patience
    while (left := guard.processes_with(guard.RUN, mark)) and time.monotonic() < until:
        await asyncio.sleep(0.05)
    ended = []
    for pid in left:
        try:
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            os.kill(pid, signal.SIGKILL)
            ended.append("".join(c for c in command if c.isprintable())[:200].strip())
        except OSError:
            pass  # it has ended by itself
    return ended


async def run_once(path, timeout):
    """The notebook with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    mark = uuid.uuid4().hex
    client = NotebookClient(
        notebook, timeout=timeout, startup_timeout=120, kernel_name="nodemask", coalesce_streams=True,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    problem = None
    try:
        await client.async_execute(env={**os.environ, guard.RUN: mark}, stderr=subprocess.DEVNULL)
    except CellTimeoutError:
        problem = Fault(f"{path.name}: a cell took longer than {timeout} s; --timeout allows more")
    except DeadKernelError:
        problem = Fault(f"{path.name}: the kernel died")
    except CellExecutionError as e:
        failed = [(n, c) for n, c in enumerate(notebook.cells, 1) if c.cell_type == "code"
            and any(o.output_type == "error" for o in c.outputs)]
        problem = problem_of(path.name, *failed[0]) if failed else Fault(f"{path.name}: {first_line(str(e))}")
    left = await end_leftovers(mark)
    if problem is None and left:
        problem = Fault(f"{path.name}: left processes running; they were ended: {'; '.join(left)}")
    if problem:
        raise problem
    for cell in notebook.cells:
        if cell.cell_type == "code":
            # Transient outputs that were wiped leave an empty one behind.
            cell.outputs = [o for o in cell.outputs
                if not (o.output_type == "display_data" and not o.data.get("text/html", "-").strip())]
    check_outputs(path.name, notebook)
    return notebook


async def run(path, timeout):
    """Runs a notebook, twice if an output was lost: a display may get lost between gonb and the notebook."""
    try:
        return await run_once(path, timeout)
    except LostOutput as e:
        print(f"reports: {e}; running the notebook again", file=sys.stderr)
        return await run_once(path, timeout)


async def run_all(paths, only, results, sources, timeout, jobs, force):
    """Runs those notebooks in only that have changed. What the others gave is taken from the folder results, where
    all are left. Returns executed notebooks by path, and raises what went wrong when all have ended."""
    results.mkdir(parents=True, exist_ok=True)
    turn, finished = asyncio.Semaphore(jobs), []

    async def one(path):
        kept, wanted = results / path.name, key(path, sources)
        if path not in only:
            # Other pages link to one that has not been run yet, so there is a page of its text and code.
            return nbformat.read(kept, as_version=4) if kept.exists() else read(path)
        if not force and kept.exists():
            notebook = nbformat.read(kept, as_version=4)
            if notebook.metadata.get("nodemask", {}).get("key") == wanted:
                finished.append(path)
                return notebook
        async with turn:
            start = time.monotonic()
            notebook = await run(path, timeout)
            seconds = time.monotonic() - start
            finished.append(path)
            print(f"reports: {len(finished)} of {len(only)}: {path.name} took {seconds:.0f} s", file=sys.stderr)
        notebook.metadata["nodemask"] = {"key": wanted, "date": time.strftime("%Y-%m-%d"),
            "seconds": round(seconds, 1), "small": os.environ.get("NODEMASK_SMALL") == "1"}
        write_whole(kept, nbformat.writes(notebook) + "\n")
        return notebook

    done = await asyncio.gather(*(one(p) for p in paths), return_exceptions=True)
    problems = [e for e in done if isinstance(e, BaseException)]
    for e in problems:
        if not isinstance(e, Fault):
            raise e
    if problems:
        raise Fault("\n".join(str(e) for e in problems))
    return dict(zip(paths, done))
