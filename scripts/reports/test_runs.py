"""Facts about the runs of notebooks, and about their sources."""

import asyncio
import fcntl
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile
import unittest

import nbformat.v4 as v4

import execute
import sources
from test_reports import Folder, cell, html, notebook, printed, text


class Runs(unittest.TestCase):
    def check(self, *cells):
        execute.check_outputs("n.ipynb", notebook(*cells))

    def test_a_shell_command_that_fails_is_a_failure(self):
        with self.assertRaisesRegex(sources.Fault, "n.ipynb, cell 1: no such file"):
            self.check(cell("!cat x", printed("no such file\nexit status 1\n", "stderr")))

    def test_the_compilers_first_line_is_the_reason(self):
        with self.assertRaisesRegex(sources.Fault, r"cell 1: ./main.go:3:1: undefined: x$"):
            self.check(cell("%%\nx", printed("./main.go:3:1: undefined: x\nexit status 1\n", "stderr")))

    def test_runs_into_one_folder_take_turns_and_halves_go(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "a.part").write_text("half")
            (folder / "a.ipynb").write_text("whole")
            main = runpy.run_path(str(pathlib.Path(execute.__file__).with_name("__main__.py")), run_name="main")
            lock = main["take_turn"](folder)
            self.assertEqual([p.name for p in folder.glob("a*")], ["a.ipynb"])
            with open(folder / ".lock") as other, self.assertRaises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            lock.close()

    def test_a_cell_without_output_is_lost(self):
        for source in ("%%\nx()", "%%\nnb.Table(t)"):
            with self.assertRaises(execute.LostOutput):
                self.check(text("# T"), cell(source))
        with self.assertRaises(execute.LostOutput):
            self.check(cell('nb.Table(t)\nfmt.Println("printed")', printed("printed\n")))
        self.check(cell("func f() {}", tags=["silent"]), cell("fmt.Println(1)", printed("1\n")),
            cell("nb.Table(nb.Must1(t))", html("<table>")))
        self.check(cell("x := nb.Must1(f())\nfmt.Println(x)", printed("1\n")))

    def test_a_lost_output_is_tried_again_once(self):
        runs = []

        async def lose(path, timeout):
            runs.append(path)
            if len(runs) < 2:
                raise execute.LostOutput("lost")
            return "here"

        before, execute.run_once = execute.run_once, lose
        self.addCleanup(setattr, execute, "run_once", before)
        self.assertEqual(asyncio.run(execute.run("n", 1)), "here")
        self.assertEqual(len(runs), 2)

    @unittest.skipUnless(sys.platform == "linux", "needs /proc")
    def test_leftover_processes_are_ended(self):
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, execute.guard.RUN: "test"})
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        # Popen returns while the system may still be loading the program; until that is done, its environment reads as
        # empty.
        process.stdin.write(b"up\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"up\n")
        self.assertEqual(asyncio.run(execute.end_leftovers("test", patience=0)), ["cat"])
        self.assertEqual(process.wait(timeout=5), -9)
        self.assertEqual(asyncio.run(execute.end_leftovers("test", patience=0)), [])


class Sources(Folder):
    def test_cleaning_keeps_text_and_ids_and_is_stable(self):
        path = self.folder / "n.ipynb"
        first = v4.new_code_cell("a\nb", id="mine", execution_count=3, outputs=[printed("1\n")],
            metadata={"tags": ["silent"], "scrolled": True})
        n = notebook(first, text("# T"), cell(""))
        n.cells[1].id = "mine"
        path.write_text(sources.written(n), encoding="utf-8")
        self.assertTrue(sources.clean(path))
        self.assertFalse(sources.clean(path))
        cleaned = sources.read(path)
        self.assertEqual([(c.id, c.source) for c in cleaned.cells], [("mine", "a\nb"), ("t", "# T")])
        self.assertEqual((cleaned.cells[0].outputs, cleaned.cells[0].execution_count, cleaned.cells[0].metadata),
            ([], None, {"tags": ["silent"]}))
        self.assertIn('    "a\\n",\n    "b"', path.read_text(encoding="utf-8"))

    def test_a_change_of_what_results_depend_on_changes_the_key(self):
        kernel = self.folder / "lab/share/jupyter/kernels/nodemask"
        kernel.mkdir(parents=True)
        for path in (kernel / "kernel.json", self.folder / "lab/installed", self.folder / "lab/kernel-installed"):
            path.write_text("{}")
        project = self.folder / "project"
        (project / "nmgnn").mkdir(parents=True)
        (project / "nmgnn/a.go").write_text("package nmgnn")
        before = execute.sources_hash(project, kernel)
        (project / "nmgnn/a_test.go").write_text("package nmgnn")
        self.assertEqual(execute.sources_hash(project, kernel), before)
        (project / "nmgnn/a.go").write_text("package nmgnn // other")
        self.assertNotEqual(execute.sources_hash(project, kernel), before)


if __name__ == "__main__":
    unittest.main()
