"""Runs the notebooks and writes them as HTML pages: python scripts/reports [--force] [NOTEBOOK ...].

    --clean   write the notebooks the way that they are committed, without outputs, instead
"""

import argparse
import asyncio
import fcntl
import os
import pathlib
import signal
import sys

import checks
import execute
import page
import sidebar
import sources

PROJECT = pathlib.Path(__file__).resolve().parents[2]


def arguments():
    p = argparse.ArgumentParser(prog="reports", description="Run the notebooks and write them as HTML pages.")
    p.add_argument("notebooks", nargs="*", type=pathlib.Path,
        help="run these only; pages of the others show their last run (default: all in notebooks/)")
    p.add_argument("--clean", action="store_true",
        help="write the notebooks the way that they are committed, without outputs, and stop")
    p.add_argument("--unrun", action="store_true",
        help="run nothing: write pages of what notebooks say and of what their last run showed, and stop")
    p.add_argument("--force", action="store_true", help="run notebooks that have not changed, too")
    p.add_argument("--timeout", type=int, default=600, help="seconds that a cell may take (default 600)")
    p.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="notebooks to run at a time")
    p.add_argument("--with-parent", action="store_true", help="end when the process that started this does (Linux)")
    p.add_argument("--out", type=pathlib.Path, default=PROJECT / "reports", help="folder of the pages")
    return p.parse_args()


def end_with_parent():
    """Has the kernel end this process when the one that started it ends: make may be killed."""
    parent = os.getppid()
    if execute.guard.prctl(execute.guard.SET_PDEATHSIG, signal.SIGTERM) and os.getppid() != parent:
        sys.exit(128 + signal.SIGTERM)


def take_turn(results):
    """Waits until no other run writes into the folder, and removes what one that was killed has left half-written."""
    results.mkdir(parents=True, exist_ok=True)
    lock = open(results / ".lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("reports: waiting for another run to end", file=sys.stderr)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        # A file system without locks: one run at a time may write there, and who has left a half is not known.
        return lock
    for part in (*results.glob("*.part"), *results.glob(".*.part")):
        part.unlink()
    return lock


def main():
    a = arguments()
    if a.with_parent:
        end_with_parent()
    notebooks = sources.find(PROJECT / "notebooks")
    only = {p.resolve() for p in a.notebooks} or set(notebooks)
    if unknown := only - set(notebooks):
        raise sources.Fault(
            f"{', '.join(sorted(p.name for p in unknown))}: no such notebook in {PROJECT / 'notebooks'}")
    if a.clean:
        for path in sorted(only):
            if sources.clean(path):
                print(f"reports: cleaned {path.name}", file=sys.stderr)
        return
    kernel = pathlib.Path(sys.prefix) / "share/jupyter/kernels/nodemask"
    results = PROJECT / ".nodemask/notebooks"
    lock = take_turn(results)
    if a.unrun:
        only, sources_hash = set(), ""
    else:
        sources_hash = execute.sources_hash(PROJECT, kernel)
    executed = asyncio.run(execute.run_all(notebooks, only, results, sources_hash, a.timeout, a.jobs, a.force))
    for part in a.out.glob(".*.html.part"):
        part.unlink()
    where = sidebar.targets(PROJECT, notebooks)
    pages = [page.Page(path, notebook, where, a.out) for path, notebook in executed.items()]
    page.write_site(a.out, pages, site=sidebar.Site(PROJECT, a.out, pages, sidebar.packages(PROJECT)))
    if faults := checks.check_site(a.out):
        raise sources.Fault("\n".join(faults))
    print(f"reports: {len(executed)} pages, see {a.out / 'index.html'}", file=sys.stderr)
    lock.close()


if __name__ == "__main__":
    try:
        main()
    except sources.Fault as e:
        for line in str(e).splitlines():
            print(f"reports: {line}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
