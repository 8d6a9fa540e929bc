"""The command nodemask of the wheel. What is not 'nodemask lab' is the program's own.

nodemask lab [--setup-only] [--port 8888] [FOLDER] unpacks the project's source into a folder (nodemask-VERSION), sets
up JupyterLab with a Go kernel there, as in a clone, and opens it. The kernel is registered for this Python's Jupyter,
too.
"""

import argparse
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / "bin/nodemask"


def stop(why):
    sys.exit(f"nodemask lab: {why}")


def unpack(folder, version):
    """Unpacks the source, whole or not at all. A folder that has it already, from this version, stays as it is."""
    note = folder / ".wheel"
    if note.is_file():
        if (there := note.read_text().strip()) != version:
            stop(f"{folder} has nodemask {there}, and this is {version}: name another folder")
        return
    if folder.exists() and any(folder.iterdir()):
        stop(f"{folder} is not empty: name a folder that is new")
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        with tarfile.open(HERE / "source.tar.gz") as archive:
            archive.extractall(scratch)  # the wheel's own file
        (source,) = scratch.iterdir()
        (source / ".wheel").write_text(version + "\n")
        if folder.exists():
            folder.rmdir()
        source.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def register(folder):
    """Shows the kernel to the JupyterLab of this Python, if there is one."""
    made = folder / ".nodemask/lab/share/jupyter/kernels/nodemask"
    kernel = pathlib.Path(sys.prefix) / "share/jupyter/kernels/nodemask"
    try:
        shutil.copytree(made, kernel, dirs_exist_ok=True)
    except OSError as e:
        print(f"nodemask lab: the kernel is not registered in {sys.prefix}: {e.strerror}", file=sys.stderr)


def lab(arguments):
    version = importlib.metadata.version("nodemask")
    p = argparse.ArgumentParser(prog="nodemask lab", description="Open the notebooks in JupyterLab.")
    p.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(f"nodemask-{version}"),
        help="where the notebooks and what they need are, or are to be (default: %(default)s)")
    p.add_argument("--port", type=int, default=8888, help="JupyterLab's port (default 8888)")
    p.add_argument("--setup-only", action="store_true", help="set up, and start nothing")
    a = p.parse_args(arguments)
    if not shutil.which("go"):
        stop("cells are compiled by Go, which was not found: install Go 1.26.5 or newer from https://go.dev/dl")
    folder = a.folder.resolve()
    unpack(folder, version)
    setup = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": ""}
    if status := subprocess.run([folder / "scripts/lab/setup.sh"], env=setup).returncode:
        sys.exit(status)
    register(folder)
    if not a.setup_only:
        os.execv(folder / "scripts/lab/start.sh", ["start.sh", str(a.port)])


def main():
    if sys.argv[1:2] == ["lab"]:
        lab(sys.argv[2:])
    else:
        os.execv(PROGRAM, ["nodemask", *sys.argv[1:]])


if __name__ == "__main__":
    main()
