"""Facts about the pages and about what a run is not let through. See also nb/notebooktest/browser_test.go."""

import asyncio
import base64
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from html import unescape

import nbformat.v4 as v4

import checks
import execute
import frontpage as front
import page
import policy
import sidebar
import sources
import tex


def notebook(*cells):
    return v4.new_notebook(cells=list(cells))


def text(source):
    return v4.new_markdown_cell(source)


def cell(source, *outputs, tags=()):
    return v4.new_code_cell(source, outputs=list(outputs), metadata={"tags": list(tags)} if tags else {})


def html(fragment):
    return v4.new_output("display_data", data={"text/html": fragment})


def printed(what, name="stdout"):
    return v4.new_output("stream", name=name, text=what)


PROJECT = page.PROJECT


def html_text(page):
    """What a reader of a page sees, without its scripts and styles."""
    return unescape(re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]+>", " ", page))


class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def site(self, *notebooks):
        """The faults of a site of notebooks, whose names are 0.ipynb, 1.ipynb, …"""
        pages = [page.Page(self.folder / f"{i}.ipynb", n) for i, n in enumerate(notebooks)]
        page.write_site(self.folder / "site", pages)
        return checks.check_site(self.folder / "site")

    def page(self, n=0):
        return (self.folder / f"site/{n}.html").read_text(encoding="utf-8")

    def index(self, notebooks, project=PROJECT):
        """The front page of a site of notebooks by their names."""
        pages = [page.Page(self.folder / f"{name}.ipynb", n) for name, n in notebooks.items()]
        page.write_site(self.folder / "site", pages, project)
        self.assertEqual(checks.check_site(self.folder / "site"), [])
        return (self.folder / "site/index.html").read_text(encoding="utf-8")


class Pages(Folder):
    def test_formulas_become_mathml(self):
        self.assertEqual(self.site(notebook(text("# T\n\nWith $p < 1$ and\n\n$$\\sum_{u \\in N} h_u$$\n"))), [])
        self.assertIn('<math display="inline" alttext="p &lt; 1"><mrow><mi>p</mi><mo>&lt;</mo><mn>1</mn></mrow></math>',
            self.page())
        self.assertRegex(self.page(), '<munder><mo[^>]*>∑</mo>')
        self.assertNotIn("$", self.page().split("</style>")[1])

    def test_dollars_in_code_stay(self):
        self.site(notebook(text("# T\n\n`$a$`\n\n```\n$b$\n```"), cell("// $c$")))
        self.assertIn("$a$", self.page())
        self.assertIn("$b$", self.page())
        self.assertIn("$c$", self.page())

    def test_an_unknown_command_names_the_cell(self):
        with self.assertRaisesRegex(sources.Fault, r"0.ipynb, cell 2: the formula .* is not understood: \\nonsense"):
            self.site(notebook(text("# T"), text(r"$\nonsense$")))

    def test_a_table_in_a_text_can_be_scrolled(self):
        self.assertEqual(self.site(notebook(text("# T\n\n| here | there |\n|---|---|\n| GIN | GINConv |"))), [])
        self.assertRegex(self.page(), r'(?s)<div class="scroll" tabindex="0"><table>.*<td>GINConv</td>.*</table>')

    def test_links_between_notebooks_lead_to_pages(self):
        self.assertEqual(self.site(notebook(text("# A\n\n[on](1.ipynb#Second-part)")),
            notebook(text("# B\n\n## Second part"))), [])
        self.assertIn('<a href="1.html#Second-part">on</a>', self.page())
        self.assertIn('rel="next" href="1.html"', self.page(0))
        self.assertIn('rel="prev" href="0.html"', self.page(1))
        self.assertIn('<a href="#Second-part">Second part</a>', self.page(1))

    def test_wherever_writing_is_killed_pages_and_notebooks_are_whole(self):
        work = (
            "import builtins, io, os, pathlib, signal, sys\n"
            "import nbformat.v4 as v4, page, sources\n"
            "folder, last, n = pathlib.Path(sys.argv[1]), int(sys.argv[2]), 0\n"
            "def step(half=lambda: None):\n"
            "    global n\n"
            "    n += 1\n"
            "    if n == last:\n"
            "        half()\n"
            "        os.kill(os.getpid(), signal.SIGKILL)\n"
            "def hook(event, arguments):\n"
            "    if event in ('open', 'os.rename', 'os.remove', 'os.mkdir') and "
            "str(arguments[0]).startswith(str(folder)): step()\n"
            "sys.addaudithook(hook)\n"
            "really = io.open\n"
            "def opened(file, mode='r', *rest, **names):\n"
            "    f = really(file, mode, *rest, **names)\n"
            "    if 'w' in mode and str(file).startswith(str(folder)):\n"
            "        write = f.write\n"
            "        def written(text):\n"
            "            step(lambda: (write(text[:len(text) // 2]), f.flush()))\n"
            "            return write(text)\n"
            "        f.write = written\n"
            "    return f\n"
            "builtins.open = io.open = opened\n"
            "sources.clean(folder / '0.ipynb')\n"
            "page.write_site(folder / 'site', [page.Page(folder / '0.ipynb', sources.read(folder / '0.ipynb'))])\n"
        )
        ran = sources.written(notebook(text("# A"), cell("x", printed("1\n"))))
        stride = 1 if os.environ.get("NODEMASK_TORTURE") else 3
        for last in range(1, 100, stride):
            (self.folder / "0.ipynb").write_text(ran, encoding="utf-8")
            status = subprocess.run([sys.executable, "-B", "-c", work, str(self.folder), str(last)],
                cwd=pathlib.Path(page.__file__).parent).returncode
            self.assertIn(status, (0, -signal.SIGKILL))
            self.assertIn(sources.written(sources.read(self.folder / "0.ipynb")),
                (ran, sources.written(sources.cleaned(sources.read(self.folder / "0.ipynb")))))
            for path in (self.folder / "site").glob("*.html"):
                self.assertTrue(path.read_text(encoding="utf-8").rstrip().endswith("</html>"), path)
            if status == 0:
                break
        self.assertEqual(status, 0)
        self.assertGreater(last, 5)

    def test_a_notebook_that_has_not_been_run_has_a_page(self):
        for name, body in {"0": "# A\n\n[on](1.ipynb#Part)", "1": "# B\n\n## Part"}.items():
            (self.folder / f"{name}.ipynb").write_text(sources.written(notebook(text(body))), encoding="utf-8")
        paths = sources.find(self.folder)

        async def run(path, timeout):
            return sources.read(path)

        before, execute.run = execute.run, run
        self.addCleanup(setattr, execute, "run", before)
        executed = asyncio.run(execute.run_all(paths, {paths[0]}, self.folder / "kept", "s", 1, 1, False))
        page.write_site(self.folder / "site", [page.Page(p, n) for p, n in executed.items()])
        self.assertEqual(checks.check_site(self.folder / "site"), [])
        self.assertIn("Run on ", self.page(0))
        self.assertIn("Not run here yet", self.page(1))

    def test_dead_links_are_found(self):
        faults = self.site(notebook(text("# A\n\n[x](no.ipynb) [y](#none)")))
        self.assertEqual(faults, ["0.html: the link no.html leads nowhere",
            "0.html: the link #none leads to a section that is not there"])

    def test_drawings_in_text_may_be_wider_than_it_and_scroll(self):
        (self.folder / "p.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="960" height="600"/>')
        self.assertEqual(self.site(notebook(text("# T\n\n![a chart](p.svg)"))), [])
        self.assertRegex(self.page(), r'<p><span class="scroll picture" tabindex="0"><img width="960" height="600" '
            r'class="broad" src="[^"]*" alt="a chart"></span></p>')

    def test_outputs_keep_their_order_and_alt(self):
        self.site(notebook(text("# T"), cell("x", printed("one\n"), printed("two\n"),
            html('<img src="data:," alt="a tree">'))))
        self.assertRegex(self.page(), r'(?s)<pre class="stdout" tabindex="0">one\ntwo</pre>.*alt="a tree"')

    def test_pictures_beside_a_notebook_are_taken_in(self):
        (self.folder / "p.png").write_bytes(b"\x89PNG")
        self.assertEqual(self.site(notebook(text("# T\n\n![a tree](p.png)"))), [])
        self.assertIn(f'src="data:image/png;base64,{base64.b64encode(bytes([0x89]) + b"PNG").decode()}" alt="a tree"',
            self.page())
        self.assertEqual(self.site(notebook(text('# T\n\n<img src="p.png" width="600" alt="a\ntree">'))), [])
        self.assertRegex(self.page(), r'<span class="scroll picture" tabindex="0"><img class="broad" '
            r'src="data:image/png;base64,[^"]+" width="600" alt="a\ntree"></span>')
        with self.assertRaisesRegex(sources.Fault, "cell 1: there is no picture q.png"):
            self.site(notebook(text("# T\n\n![a](q.png)")))

    def test_what_is_printed_is_text(self):
        self.site(notebook(text("# T"), cell("x", printed("\x1b[31ma < b\x1b[0m\n10 %\r20 %\n"))))
        self.assertIn('<pre class="stdout" tabindex="0">a &lt; b\n20 %</pre>', self.page())

    def test_what_loads_is_found(self):
        for fragment, fault in {
            '<img src="https://a.org/x.png" alt="x">': "<img src> loads",
            '<img src="x.png" alt="x">': "<img src> loads",
            '<script src="//a.org/x.js"></script>': "<script src> loads",
            '<script>fetch("x")</script>': "a <script> may load",
            "<style>@import 'x.css'</style>": "a <style> loads",
            '<p style="background:url(x.png)">': "the style of a <p> loads",
            '<link rel="stylesheet" href="x.css">': "<link href> loads",
            '<iframe src="x.html"></iframe>': "<iframe src> loads",
            '<svg><image href="x.png"/></svg>': "<image href> loads",
        }.items():
            with self.subTest(fragment):
                self.assertRegex("\n".join(self.site(notebook(text("# T"), cell("x", html(fragment))))), fault)
        self.assertEqual(self.site(notebook(text("# T\n\n[a](https://a.org)"),
            cell("x", html('<p style="fill:url(#a)">')))), [])

    def test_headings_and_alt_are_checked(self):
        faults = self.site(notebook(text("# T\n\n### Deep"),
            cell("x", html('<img src="data:,"><i id="a"></i><i id="a"></i>'))))
        self.assertEqual(len(faults), 3, faults)
        with self.assertRaisesRegex(sources.Fault, "one title"):
            self.site(notebook(text("# T"), text("# U")))

    def test_pages_of_removed_notebooks_go_and_other_files_stay(self):
        self.site(notebook(text("# A")), notebook(text("# B")))
        (self.folder / "site/report.html").write_text("<h1>ours</h1>")
        self.site(notebook(text("# A")))
        self.assertEqual(sorted(p.name for p in (self.folder / "site").iterdir()),
            ["0.html", "index.html", "report.html"])


    def test_the_contents_come_after_the_title_and_its_sentence(self):
        self.site(notebook(text("# T\n\n*Ten minutes. You will see.*\n\nMore.\n\n## Part")))
        self.assertRegex(self.page(), r'(?s)<h1.*You will see\..*<nav class="contents".*<p>More\.</p>.*<h2')

    def test_code_is_folded_behind_what_it_shows(self):
        self.site(notebook(text("# T"), cell("%%\n// All.\nnb.Table(1 < 2)", html("<table></table>")),
            cell("%%\nfmt.Println(7)", printed("7\n")), cell("%%\nfunc f() {}", tags=["silent"])))
        self.assertEqual(self.page().count('<details class="code">'), 1)
        self.assertIn("<summary>Code <code>nb.Table(1 &lt; 2)</code></summary>", self.page())

    def test_pictures_say_how_large_they_are(self):
        svg = base64.b64encode(
            b'<svg xmlns="http://www.w3.org/2000/svg" id="a" width="640" height="320.4"></svg>').decode()
        self.site(notebook(text("# T"), cell("x", html(f'<img src="data:image/svg+xml;base64,{svg}" alt="a">'))))
        self.assertIn('<img width="640" height="320" class="broad" src=', self.page())


class Sidebar(Folder):
    def faults(self, readme="# P\n\n[door](docs/COMMANDS.md#all-of-it), [code](x.go), `reports/playground.html`\n"):
        """The faults of a site of a notebook, documents and a Go package."""
        project = self.folder / "project"
        (project / "docs").mkdir(parents=True, exist_ok=True)
        (project / "README.md").write_text(readme)
        (project / "docs/COMMANDS.md").write_text(
            "# The command\n\n## All of it\n\n[up](../README.md), [play](../notebooks/0.ipynb)\n")
        (project / "x.go").write_text("package x")
        (project / "notebooks").mkdir(exist_ok=True)
        (project / "notebooks/0.ipynb").write_text("")
        out = project / "reports"
        out.mkdir(exist_ok=True)
        (out / "playground.html").write_text("<body><!-- site --><!-- end of site --><h1>ours</h1>")
        notebooks = [project / "notebooks/0.ipynb"]
        pages = [page.Page(notebooks[0], notebook(text("# N\n\n## Part\n\n[c](../docs/COMMANDS.md)"),
            cell("%%\nf()", html("<b>drawn</b><style>p{color:red}</style><script>\nlet seen = 1 < 2;</script>"))),
            sidebar.targets(project, notebooks), out)]
        packages = [sidebar.Package("a/b", "", "package b\n\nfunc Run(a *A) <-chan int\n\nfunc (a *A) Walk()\n")]
        for _ in range(2):  # a second time changes nothing
            page.write_site(out, pages, PROJECT, sidebar.Site(project, out, pages, packages))
        self.out = out
        return checks.check_site(out)

    def test_documents_become_pages_that_lead_to_one_another(self):
        self.assertEqual(self.faults(), [])
        readme, commands = ((self.out / name).read_text(encoding="utf-8")
            for name in ("README.html", "docs-COMMANDS.html"))
        self.assertIn('<a href="docs-COMMANDS.html#all-of-it">', readme)
        self.assertIn('<a href="../x.go">', readme)
        self.assertIn('<a href="0.html">play', commands)
        self.assertIn('<a href="playground.html"><code>reports/playground.html</code></a>', readme)
        self.assertIn('<a href="docs-COMMANDS.html">c', (self.out / "0.html").read_text(encoding="utf-8"))

    def test_each_document_has_its_place(self):
        listed = set(sidebar.DOCUMENTS)
        there = {path.relative_to(PROJECT).as_posix() for pattern in ("*.md", "docs/*.md", "paper/*.md")
            for path in PROJECT.glob(pattern)}
        self.assertEqual(there - listed - {"THIRD_PARTY.md"}, set())
        self.assertEqual({name for name in listed if not (PROJECT / name).is_file()}, set())

    def test_a_dead_link_of_a_document_is_a_fault(self):
        self.assertEqual(self.faults("# P\n\n[x](docs/NO.md) [y](docs/COMMANDS.md#no)\n"), [
            "README.html: the link docs/NO.md leads nowhere",
            "README.html: the link docs-COMMANDS.html#no leads to a section that is not there"])

    def test_all_pages_have_the_sidebar_once_and_one_search(self):
        self.faults()
        for name in ("index.html", "0.html", "README.html", "go-a-b.html", "playground.html"):
            written = (self.out / name).read_text(encoding="utf-8")
            self.assertEqual(written.count('<details class="site">'), 1, name)
            self.assertEqual(written.count('<script src="site.js" defer>'), 1, name)
            self.assertEqual(written.count('aria-current="page"'), 1, name)
        found = (self.out / "site.js").read_text(encoding="utf-8")
        for entry in ('["Run","package a/b","go-a-b.html#Run"]', '["Part","N","0.html#Part","code drawn"]',
            '["The command","","docs-COMMANDS.html"]',
            '["All of it","The command","docs-COMMANDS.html#all-of-it","play"]'):  # with the words below it
            self.assertIn(entry, found)


class FrontPage(Folder):
    def test_each_notebook_has_a_card(self):
        out = self.index({
            "00-a": notebook(text("# First\n\n*Five minutes. You will see $p$. And more.*"),
                cell("%%\nx", html('<img src="data:image/png;base64,AAAA" alt="x">'))),
            "04-b": notebook(text("# Second"), cell("%%\nfunc f() {}", tags=["silent"])),
        })
        cards = re.findall(r'(?s)<li class="card">.*?</li>', out)
        self.assertEqual(len(cards), 2)
        for part in ('src="data:image/png;base64,AAAA"', '<a href="00-a.html">First</a>',
            '<p class="minutes">Five minutes</p>', "<p>You will see <math"):
            self.assertIn(part, cards[0])
        self.assertNotIn("And more", cards[0])
        self.assertIn("<pre>func f() {}</pre>", cards[1])

    def test_answer_and_what_to_do_are_those_of_the_documents(self):
        plain = re.sub(r"\s+", " ", html_text(self.index({"00-a": notebook(text("# A"))})))
        for file, name in ("README.md", "answer"), ("docs/REPRODUCTION.md", "why"), ("docs/REPRODUCTION.md", "todo"), (
            "docs/REPRODUCTION.md", "counts"), ("docs/REPRODUCTION.md", "trials"):
            block = re.sub(r"\[([^\]]*)\]\([^)]*\)", lambda link: link[1].replace("\n", " "),
                           front.block(PROJECT / file, name))  # links are shown by their text
            said = re.findall(r"[^|*\n<>`\\]{12,}", block)
            for part in said:
                self.assertIn(part.strip().removeprefix("- "), plain, name)
            self.assertTrue(said, name)

    def test_an_answer_that_is_not_there_is_a_fault(self):
        path = self.folder / "REPRODUCTION.md"
        path.write_text("# P\n")
        with self.assertRaisesRegex(sources.Fault, "REPRODUCTION.md: there is no part between <!-- answer -->"):
            front.shown(path, "answer")

    def test_ids_of_drawings_begin_with_a_prefix(self):
        path = self.folder / "e.svg"
        path.write_text('<svg xmlns="http://www.w3.org/2000/svg" id="e" aria-labelledby="e-title" '
            'style="max-width:100%"><title id="e-title">E</title><style>#e .a{fill:red}</style>'
            '<path id="e2" fill="url(#e2)"/></svg>')
        out = front.drawing(path, "front-")
        self.assertIn('id="front-e" aria-labelledby="front-e-title"><title id="front-e-title">', out)
        self.assertIn('#front-e .a{fill:red}</style><path id="front-e2" fill="url(#front-e2)"/>', out)

    def test_the_drawing_of_trees_is_cut_between_them(self):
        out = front.panels('<svg id="m" viewBox="0 0 100 10">'
            + "".join(f'<rect x="{x}" y="0" width="8" height="9"/>' for x in (1, 11, 31, 51, 61, 81)) + "</svg>", 4)
        self.assertEqual(re.findall(r'viewBox="([\d.]+) 0 ([\d.]+) 10">', out),
            [("0", "25"), ("25", "20"), ("45", "30"), ("75", "25")])
        self.assertEqual(out.count('href="#m-drawn"'), 3)

    def test_each_table_and_figure_is_a_click_away_by_the_papers_number(self):
        report = PROJECT / "reports/report.html"
        if not report.is_file():
            self.skipTest("no report: 'make' writes it")
        numbers = re.findall(r'": "((?:Table|Figure) \w+)"', (PROJECT / "paper/report/artifacts.go").read_text())
        self.assertEqual(len(numbers), 12)
        numbers += [f"Figure {n}" for n in range(1, 8)]  # drawings, in notebooks
        listed = sidebar.tables(report.parent, [page.Page(p, sources.read(p)) for p in sources.find(PROJECT / "notebooks")])
        self.assertEqual(sorted(n for _, n, _ in listed if n), sorted(numbers))
        ids = {address.split("#")[1] for address, _, _ in listed}
        self.assertTrue({"fig-keep-rate-others", "table-scores", "table-balanced"} <= ids, ids)

    def test_there_is_a_place_for_a_program_with_a_picture_in_it(self):
        self.assertRegex(self.index({"00-a": notebook(text("# A"))}),
            r'(?s)<div id="live" data-nodemask-live>\s*<figure.*?<svg ')


class Read(Folder):
    def test_raw_markdown_entities_and_empty_cells_are_faults(self):
        table = "<table><thead><tr><td></td></tr></thead><tbody><tr><td>{}</td></tr></tbody></table>"
        self.assertEqual(self.site(notebook(text("# T\n\n`a|b` and `**c**`, **d**"), cell("x", html(table.format(1))))), [])
        for fragment in "| a | b |", "|:---|", "a **b**", "[a](b.md)", "\\[0, 1\\]", "a &amp;lt; b", "&lt;!-- a --&gt;":
            faults = self.site(notebook(text("# T"), cell("x", html(f"<p>{fragment}</p>"))))
            self.assertRegex("\n".join(faults), "a reader sees raw Markdown or an entity", fragment)
        self.assertEqual(self.site(notebook(text("# T"), cell("x", html(table.format(" "))))),
            ["0.html: a cell of a table is empty"])


class Policies(Folder):
    def directives(self, text):
        found = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
        self.assertLess(found.start(), text.index("<style>"))
        return {name: values for name, *values in (d.split() for d in found.group(1).split("; "))}

    def test_a_policy_names_what_is_in_the_page_and_nothing_else(self):
        self.index({"0": notebook(text("# T"), cell("x", html('<table><td style="text-align:right">1</td></table>')))})
        for name in ("0.html", "index.html"):
            written = (self.folder / "site" / name).read_text(encoding="utf-8")
            d = self.directives(written)
            self.assertEqual(d["default-src"], ["'none'"])
            self.assertEqual(d["connect-src"], ["'none'"])
            self.assertEqual(d["img-src"], ["data:"])
            self.assertEqual(d["worker-src"], ["blob:"])
            hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'"
                for s in re.findall(r"(?s)<script>(.*?)</script>", written)}
            self.assertEqual(set(d["script-src"]), hashes | {"'wasm-unsafe-eval'"})
            for style in re.findall(r"(?s)<style>(.*?)</style>", written):
                self.assertIn(policy.digest(style), d["style-src"])
            self.assertNotIn("'unsafe-inline'", d["style-src"])
        self.assertIn(policy.digest("text-align:right"), self.directives(self.page())["style-src"])

    def test_programs_in_outputs_may_write_styles(self):
        self.site(notebook(text("# T"),
            cell("x", html('<script type="application/json">{}</script><script>1</script>'))))
        d = self.directives(self.page())
        self.assertEqual(d["style-src"], ["'unsafe-inline'"])
        self.assertIn(policy.digest("1"), d["script-src"])
        self.assertNotIn(policy.digest("{}"), d["script-src"])
        self.assertNotIn("'self'", d["script-src"])

    def test_a_script_may_lie_beside_the_page(self):
        beside = notebook(text("# T"), cell("x", html('<script src="live.js"></script>')))
        self.assertEqual(self.site(beside), ["0.html: the link live.js leads nowhere"])
        (self.folder / "site/live.js").write_text("1")
        self.assertEqual(self.site(beside), [])
        self.assertEqual(self.directives(self.page())["script-src"][:2], ["'self'", "file:"])

    def test_references_in_styles_of_drawings_are_read_as_browsers_do(self):
        self.assertEqual(policy.Inline("<svg><style>a&gt;b{}</style></svg><style>a&gt;b{}</style>").styles,
            ["a>b{}", "a&gt;b{}"])

    def test_handlers_are_found(self):
        self.assertRegex("\n".join(self.site(notebook(text("# T"), cell("x", html('<p onclick="x()">'))))),
            "<p onclick> is a handler")


class Formulas(unittest.TestCase):
    def test_names_are_upright_in_one_piece(self):
        self.assertIn("<mi>MLP</mi>", tex.mathml(r"\mathrm{MLP}(x)", False))

    def test_sim_is_an_operator(self):
        self.assertIn("<mo>∼</mo>", tex.mathml(r"\delta \sim B", False))


if __name__ == "__main__":
    unittest.main()
