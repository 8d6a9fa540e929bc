"""Facts about the kernel that is set up: python -m unittest test_kernel, with the Python of the set-up."""

import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import register
import time_cells

PROJECT = pathlib.Path(__file__).resolve().parents[2]


class Listener:
    """A proxy that answers nobody, and remembers who asked."""

    def __init__(self):
        self.asked, self.socket = [], socket.create_server(("127.0.0.1", 0))
        self.address = "http://127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                caller, _ = self.socket.accept()
            except OSError:
                return
            with caller:
                caller.settimeout(5)
                try:
                    self.asked.append(caller.recv(4096).split(b"\r\n")[0].decode())
                except OSError as e:
                    self.asked.append(str(e))


class Kernel(unittest.TestCase):
    def test_nobody_is_asked(self):
        listener = Listener()
        self.addCleanup(listener.socket.close)
        proxies = {name: listener.address for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")}
        # Go's own defaults, by which the go command asks a proxy and a checksum database, whatever is set here.
        settings = {name: "" for name in ("GOSUMDB", "GOPROXY", "GONOSUMDB", "GOPRIVATE", "NO_PROXY", "no_proxy")}
        settings["GOENV"] = "off"
        kernel = time_cells.Kernel(PROJECT, **proxies, **settings)
        self.addCleanup(kernel.end)
        kernel.times(time_cells.CELLS[0])
        kernel.times("var g errgroup.Group\nfmt.Println(g.Wait())")  # no package of the project: goimports looks for it
        kernel.client.complete('nb.Fig', 6, reply=True, timeout=60)  # gopls answers, and has read the project by then
        kernel.client.inspect("nb.Figure", 5, reply=True, timeout=60)
        time.sleep(2)
        self.assertEqual(listener.asked, [])

    def test_what_go_env_has_written_changes_nothing(self):
        with tempfile.NamedTemporaryFile("w", suffix="env") as f:
            f.write("GOPROXY=https://proxy.example\nGOSUMDB=sum.example\nGOPRIVATE=*\nGOVCS=*:all\nGOWORK=/nowhere\nGOFLAGS=-mod=mod\n")
            f.flush()
            wanted = register.environment("lab", "project", "bin", "1", "-buildvcs=false")
            env = {**os.environ, **{k: v for k, v in wanted.items() if k != "PATH"}, "GOENV": f.name}
            said = subprocess.run(["go", "env", "-json"], cwd=PROJECT, env=env, check=True, stdout=subprocess.PIPE).stdout
        is_set = json.loads(said)
        for name in ("GOPROXY", "GONOPROXY", "GOSUMDB", "GOVCS", "GOFLAGS", "GOTOOLCHAIN"):
            self.assertEqual(is_set[name], wanted[name], name)


if __name__ == "__main__":
    unittest.main()
