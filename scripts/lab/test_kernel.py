"""Facts about the kernel that is set up: python -m unittest test_kernel, with the Python of the set-up."""

import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import relay
import hints
import kernel as looked_after
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
        with self.assertRaises(SystemExit) as failed:
            kernel.times("fmt.Println(undefinedName)")
        self.assertIn("undefined: undefinedName", str(failed.exception))
        self.assertNotIn("# gonb_", str(failed.exception), "the name of the package that gonb makes of a cell")
        self.assertTrue((PROJECT / ".nodemask/lab/gopls/gopls").exists(), "there is no gopls: run 'make setup-lab'")
        answer, until = {}, time.monotonic() + 60
        while "Figure" not in answer.get("matches", ()) and time.monotonic() < until:
            answer = kernel.client.complete("%%\nnb.Fig", 9, reply=True, timeout=60)["content"]
        self.assertEqual(answer["matches"], ["Figure"])
        kernel.client.inspect("%%\nnb.Figure", 8, reply=True, timeout=60)
        time.sleep(2)
        self.assertEqual(listener.asked, [])

    def test_gopls_is_started_for_people_alone(self):
        os.environ[looked_after.RUN] = "1"
        self.addCleanup(os.environ.pop, looked_after.RUN)
        self.assertIsNone(looked_after.names(str(PROJECT / ".nodemask/lab/bin/gonb"), pathlib.Path("/nowhere")))

    def test_names_are_completed_and_explained(self):
        kernel = time_cells.Kernel(PROJECT)
        self.addCleanup(kernel.end)
        kernel.times("func village() int { return 90 }\n%%\nfmt.Println(village())", head="")
        ask = lambda code: kernel.client.complete(code, len(code), reply=True, timeout=60)["content"]["matches"]
        until = time.monotonic() + 60
        while not ask("%%\nnb.") and time.monotonic() < until:
            pass
        names = ask("%%\nnb.")
        self.assertIn("Tree", names)
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual([n for n in names if n.startswith(("Test", "Example", "Benchmark"))], [])
        self.assertIn("NumNodes", ask('%%\ng := nb.Data("cora")\ng.'), "of a variable")
        self.assertEqual(ask("%%\nvilla"), ["village"], "of an earlier cell")
        self.assertIn("Figure", ask("nb."), "of a cell that lacks its %%")
        for code, at in (("%%\nnb.Tree(g, 5, 2)", 7), ("%%\nnb.Tree(", 11), ('%%\nnb.Tree("é", 5, 2)', 18)):
            said = kernel.client.inspect(code, at, reply=True, timeout=60)["content"]
            self.assertIn("Tree(g *datasets.Graph, root int32, hops int, masked ...int32)", said["data"]["text/plain"])

    def test_what_go_env_has_written_changes_nothing(self):
        with tempfile.NamedTemporaryFile("w", suffix="env") as f:
            f.write("GOPROXY=https://proxy.example\nGOSUMDB=sum.example\nGOPRIVATE=*\nGOVCS=*:all\nGOWORK=/nowhere\n"
                "GOFLAGS=-mod=mod\n")
            f.flush()
            wanted = register.environment("lab", "project", "bin", "1", "-buildvcs=false")
            env = {**os.environ, **{k: v for k, v in wanted.items() if k != "PATH"}, "GOENV": f.name}
            said = subprocess.run(["go", "env", "-json"], cwd=PROJECT, env=env, check=True,
                stdout=subprocess.PIPE).stdout
        is_set = json.loads(said)
        for name in ("GOPROXY", "GONOPROXY", "GOSUMDB", "GOVCS", "GOFLAGS", "GOTOOLCHAIN"):
            self.assertEqual(is_set[name], wanted[name], name)


RED = "\x1b[31m"


class Hints(unittest.TestCase):
    def explained(self, *traceback, said="", **codes):
        codes = {int(name[1:]): code for name, code in codes.items()}
        lines = hints.explain(list(traceback), said, codes, PROJECT, pathlib.Path("/nowhere"))
        return [hints.COLOUR.sub("", line) for line in lines]

    def test_a_compilers_error_has_the_line_and_what_to_do(self):
        place = "Cell[2]: Line 2\n\nfunc main() {\n\tflag.Parse()\nnb.Tre(g)\n   ^\n\n"
        for message, code, advice in (
            ("undefined: nb.Tre", "%%\nnb.Tre(g)", "Did you mean nb.Tree?"),
            ("undefined: g", "%%\nnb.Show(g)", "Variables do not survive their cell: declare g here, or return it from a "
             "function, which later cells can call."),
            ("declared and not used: x", "%%\nx := 1", "Go refuses variables that nothing uses: write x on the last line to "
             "see it, or leave it out."),
            ("expected declaration, found nb", "\nnb.Tree(g)", "Statements stand after a line %%: put it above them."),
        ):
            self.assertEqual(self.explained(f"{place}\n{RED}{message}\x1b[0m", c1='%%\ng := nb.Data("cora")', c2=code),
                [f"line 2: {code.splitlines()[1]}", message, f"→ {advice}"])

    def test_an_exit_is_said_once_and_a_panic_with_its_words(self):
        self.assertEqual(self.explained("exit status 1", said="no such file"), ["exit status 1"])
        self.assertEqual(self.explained("exit status 2", said="panic: oh\n\ngoroutine 1 [running]:\n"), ["panic: oh"])

    def test_a_layers_line_is_found_in_its_cell(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "gonb_1/main.go"
            program.parent.mkdir()
            program.write_text("package main\n\n\treturn Add(own, mean)\n")
            said = "building the model: layer 1 (main.Gated, main.go:3): shapes differ\n"
            codes = {1: "type Gated int\n\n  return Add(own, mean)", 2: "%%\ntry()"}
            lines = hints.explain(["exit status 1"], said, codes, PROJECT, pathlib.Path(folder))
        self.assertEqual([hints.COLOUR.sub("", line) for line in lines],
            ["cell [1], line 3: return Add(own, mean)", "exit status 1"])


# Stands for gonb: makes a folder for temporary files, starts a process in a session of its own, says so, and runs on.
STAND_IN = """
import os, pathlib, subprocess, sys, tempfile
pathlib.Path(tempfile.gettempdir(), "gonb_1").mkdir()
waits = "import signal; print('up', flush=True); signal.pause()"
# While the system loads a program, its environment reads as empty.
subprocess.Popen([sys.executable, "-I", "-c", waits], start_new_session=True, stdout=subprocess.PIPE).stdout.readline()
print(os.getpid(), flush=True)
sys.stdin.read()
"""
# Starts what follows and then runs on, as JupyterLab does.
STARTER = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"
# A process that is told to end may take a moment.
PATIENCE = 60


@unittest.skipUnless(sys.platform == "linux", "needs /proc")
class NothingStays(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="an ä ")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def start(self, *before):
        """A kernel, once it runs, and the number of the process that stands for gonb."""
        self.connection = self.folder / f"kernel-{len(list(self.folder.iterdir()))}.json"
        shell, shown = relay.free_ports(2)
        self.connection.write_text(json.dumps({"key": "", "transport": "tcp", "ip": "127.0.0.1", "shell_port": shell,
            "iopub_port": shown}))
        # The environment's Python by another name: beside it there is no gopls.
        command = [*before, sys.executable, "-I", looked_after.__file__, os.path.realpath(sys.executable), "-c", STAND_IN,
            str(self.connection)]
        env = {k: v for k, v in os.environ.items() if k != looked_after.RUN}
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**env, "TMPDIR": str(self.folder)})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        return process, int(process.stdout.readline())

    def left(self):
        """Folders of kernels, and the processes that belong to them."""
        folders = list(self.folder.glob(looked_after.PREFIX + "*"))
        mark = f"{looked_after.FOLDER}={self.folder}".encode()
        processes = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes():
                    processes.append(int(process.name))
            except OSError:
                continue
        return folders, processes

    def assert_nothing_stays(self):
        until = time.monotonic() + PATIENCE
        while self.left() != ([], []) and time.monotonic() < until:
            time.sleep(0.02)
        self.assertEqual(self.left(), ([], []))

    def test_after_a_kernel_that_ends(self):
        process, _ = self.start()
        self.assertEqual((len(self.left()[0]), len(self.left()[1])), (1, 2))
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assert_nothing_stays()

    def test_after_a_kernel_that_is_killed(self):
        process, gonb = self.start()
        os.kill(gonb, signal.SIGKILL)
        self.assertEqual(process.wait(PATIENCE), 128 + signal.SIGKILL)
        self.assert_nothing_stays()

    def test_after_one_that_is_told_to_end(self):
        process, _ = self.start()
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 128 + signal.SIGTERM)
        self.assert_nothing_stays()

    def test_after_the_process_that_started_it_is_killed(self):
        process, _ = self.start(sys.executable, "-c", STARTER)
        process.kill()
        process.wait(PATIENCE)
        self.assert_nothing_stays()
        self.assertFalse(self.connection.exists())

    def test_the_next_kernel_removes_what_a_killed_one_left_and_nothing_else(self):
        killed, gonb = self.start()
        killed.kill()
        killed.wait(PATIENCE)
        folders, processes = self.left()
        self.assertEqual(len(folders), 1)
        self.assertTrue(processes, "the process in a session of its own")
        other, _ = self.start()
        self.assertFalse(folders[0].exists())
        self.assertEqual((len(self.left()[0]), len(self.left()[1])), (1, 2), "those of the second")
        third, _ = self.start()
        self.assertEqual((len(self.left()[0]), len(self.left()[1])), (2, 4), "the second runs")
        for process in (other, third):
            process.terminate()
            process.wait(PATIENCE)
        self.assert_nothing_stays()

    def test_what_a_run_of_notebooks_looks_for_is_left_to_it(self):
        os.environ[looked_after.RUN] = "1"
        self.addCleanup(os.environ.pop, looked_after.RUN)
        before, looked_after.RUN = looked_after.RUN, "nothing"  # so that start passes it on
        try:
            process, _ = self.start()
        finally:
            looked_after.RUN = before
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)
        folders, processes = self.left()
        self.assertEqual((folders, len(processes)), ([], 1))
        os.kill(processes[0], signal.SIGKILL)


EVIL, REFUSED = "https://evil.example", (403, 404)


class Strangers(unittest.TestCase):
    """What a page of another origin, or a name that leads here, may ask of a running lab."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        with socket.create_server(("127.0.0.1", 0)) as free:
            cls.port = free.getsockname()[1]
        cls.lab = subprocess.Popen(
            [PROJECT / "scripts/lab/start.sh", str(cls.port), "--no-browser", "--ServerApp.port_retries=0"],
            env={**os.environ, "JUPYTER_HOME": scratch.name, "JUPYTER_TOKEN": "secret", "JUPYTER_ROOT": scratch.name},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(cls.lab.wait, PATIENCE)
        cls.addClassCleanup(cls.lab.terminate)
        until = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < until:
            try:
                if cls.ask("GET", "/api") == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("JupyterLab does not answer")

    @classmethod
    def ask(cls, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", cls.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
            return connection.getresponse().status
        finally:
            connection.close()

    TOKEN = {"Authorization": "token secret"}
    UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}

    def test_without_the_token_nothing_is_told_or_done(self):
        for method, path in (("GET", "/api/kernels"), ("GET", "/api/contents"), ("GET", "/api/sessions"),
            ("POST", "/api/kernels"), ("POST", "/api/terminals"),
                             ("PUT", "/api/contents/x"), ("DELETE", "/api/contents/x"), ("POST", "/api/shutdown")):
            # A form is what a page of another origin can send without asking.
            self.assertEqual(self.ask(method, path, "x=1", Content_Type="application/x-www-form-urlencoded"), 403,
                (method, path))
            self.assertIn(self.ask(method, path, "x=1", Content_Type="application/x-www-form-urlencoded", Origin=EVIL),
                REFUSED, (method, path))
        self.assertEqual(self.ask("GET", "/api/kernels/0-0-0-0-0/channels", **self.UPGRADE), 403)
        self.assertEqual(self.ask("GET", "/api/kernels", **self.TOKEN), 200, "with it, it is")

    def test_a_page_of_another_origin_opens_no_socket(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.request("GET", "/lab?token=secret")
        answer = connection.getresponse()
        answer.read()
        cookies = "; ".join(c.split(";")[0] for c in answer.headers.get_all("Set-Cookie") or [])
        self.assertTrue(cookies)
        self.assertEqual(self.ask("GET", "/api/kernels", Cookie=cookies), 200, "the cookie is good for reading")
        self.assertIn(self.ask("POST", "/api/kernels", "{}", Cookie=cookies, Origin=EVIL, Content_Type="text/plain"),
            REFUSED)
        connection.request("POST", "/api/kernels", "{}", self.TOKEN)
        path = f"/api/kernels/{json.loads(connection.getresponse().read())['id']}"
        self.assertEqual(self.ask("GET", path + "/channels", Cookie=cookies, Origin=f"http://127.0.0.1:{self.port}",
            **self.UPGRADE), 101, "its own pages may")
        for path in (path + "/channels", "/api/events/subscribe"):
            self.assertIn(self.ask("GET", path, Cookie=cookies, Origin=EVIL, **self.UPGRADE), REFUSED, path)

    def test_another_name_that_leads_here_is_refused(self):
        self.assertEqual(self.ask("GET", "/api/kernels", Host="evil.example", **self.TOKEN), 403)


if __name__ == "__main__":
    unittest.main()
