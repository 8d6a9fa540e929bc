"""Runs a kernel so that nothing of it stays: kernel.py GONB [GONB'S ARGUMENTS].

gonb keeps programs and sockets in folders under the folder for temporary files, and starts the programs of cells. Here
it gets a folder for temporary files of its own, and relay.py stands between it and Jupyter. When the kernel ends, or the process that started it
(JupyterLab or scripts/reports), however that ended, its processes are ended and its folder is removed. What could not
be, since this process was killed too, the next kernel removes.
"""

import ctypes
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # Python runs isolated, and sees nothing beside a notebook

import relay
import gopls

PREFIX = "nodemask-kernel-"
# Names the folder in the environment of all processes of a kernel.
FOLDER = "NODEMASK_KERNEL"
# Whoever runs notebooks with this set looks for processes that cells left, and ends them.
RUN = "NODEMASK_NOTEBOOK_RUN"
LOCK, CONNECTION = "lock", "connection"
SET_PDEATHSIG, SET_CHILD_SUBREAPER = 1, 36


def prctl(option, value):
    """Linux's call of that name; False elsewhere."""
    try:
        return ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0
    except (AttributeError, OSError):
        return False


def processes_with(variable, value):
    """The processes that have this in their environment, but for the caller; none where there is no /proc."""
    found, entry = [], f"{variable}={value}".encode()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int(process.name) != os.getpid() and entry in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            continue  # it has ended, or is someone else's
    return found


def end_processes(folder):
    """Ends the processes of a kernel, and those that they start meanwhile."""
    for _ in range(100):
        left = processes_with(FOLDER, folder)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        if not left:
            return


def remove(folder):
    """Removes the folder of a kernel and the file by which Jupyter spoke to it."""
    try:
        connection = pathlib.Path(os.readlink(folder / CONNECTION))
        if connection.name.startswith("kernel-") and connection.suffix == ".json":
            connection.unlink(missing_ok=True)
    except OSError:
        pass
    shutil.rmtree(folder, ignore_errors=True)


def locked(path):
    """The open file if nobody has it locked, else None."""
    try:
        file = open(path, "r+")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    except OSError:
        file.close()
        return None


def sweep(parent):
    """Removes the files of kernels that were killed together with their parent process."""
    for folder in parent.glob(PREFIX + "*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
        except OSError:
            continue
        if file := locked(folder / LOCK):
            end_processes(folder)
            remove(folder)
            file.close()


def make(parent, connection):
    """A folder of this kernel's own, and its lock."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    file = open(folder / "new", "w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        pass  # a file system without locks: no kernel sweeps there
    if connection:
        (folder / CONNECTION).symlink_to(os.path.abspath(connection))
    os.rename(folder / "new", folder / LOCK)  # none sees it before it is locked
    return folder, file


def names(gonb, folder):
    """The gopls of a kernel that people type in; None where notebooks are run for their pages."""
    program = pathlib.Path(gonb).parents[1] / "gopls/gopls"
    if RUN in os.environ or not program.exists():
        return None
    return gopls.Gopls(str(program), HERE.parents[1], folder, os.environ.get("JPY_SESSION_NAME", ""))


def main(command):
    starter = os.getppid()
    parent = pathlib.Path(tempfile.gettempdir())
    sweep(parent)
    connection = next((a for a in command if a.endswith(".json")), None)
    folder, lock = make(parent, connection)
    prctl(SET_CHILD_SUBREAPER, 1)  # what gonb leaves behind becomes ours

    def told(*_):
        raise SystemExit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, told)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Jupyter stops a cell by a message
    by_itself = False
    os.environ.update({"TMPDIR": str(folder), FOLDER: str(folder)})
    try:
        if connection:
            between = relay.Front(connection, folder, HERE.parents[1], names(command[0], folder))
            command = [between.file if a == connection else a for a in command]
        kernel = subprocess.Popen(
            command,
            preexec_fn=lambda: prctl(SET_PDEATHSIG, signal.SIGKILL))
        while True:
            try:
                status = kernel.wait(timeout=1)
                by_itself = True
                return status if status >= 0 else 128 - status
            except subprocess.TimeoutExpired:
                if os.getppid() != starter:
                    return 128 + signal.SIGHUP
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if not by_itself or RUN not in os.environ:
            end_processes(folder)
        remove(folder)
        lock.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
