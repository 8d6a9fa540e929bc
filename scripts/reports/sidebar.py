"""The sidebar and the search that all pages share: notebooks, documents, Go packages, the playground and the report."""

import html
import json
import os
import pathlib
import re
import subprocess
import urllib.parse

import nbformat.v4 as v4

from page import HERE, Page
from sources import Fault, write_whole

# README's five doors, each with its pages in order: numbers of notebooks, pages of the command's, documents. Notebooks
# that are not named are evidence.
DOORS = {
    "Understand": ("00", "playground.html", "01", "02", "05"),
    "Check the evidence": ("report.html", "docs/REPRODUCTION.md", "docs/CLAIMS.md", "32", "paper/README.md",
        "paper/PROTOCOL.md", "paper/PROTOCOL-2.md", "paper/PROTOCOL-3.md", "paper/ADDITIONS.md",
        "paper/DEVIATIONS.md"),
    "Use on your graph": ("docs/ADVICE.md", "docs/GRAPHS.md", "33", "03", "docs/COMMANDS.md", "docs/EXPLAIN.md",
        "docs/FORMATS.md", "docs/ONNX.md", "docs/BEAM.md", "datasets/SOURCES.md", "environment.md", "docker/README.md"),
    "Use from Go": ("docs/LIBRARY.md", "04", "06"),
    "Look inside": ("README.md", "ARCHITECTURE.md", "docs/PERFORMANCE.md", "docs/RELIABILITY.md", "docs/UPSTREAM.md",
        "scripts/peers/README.md", "aggtree/explorer/README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"),
}
DOCUMENTS = [name for names in DOORS.values() for name in names if name.endswith(".md")]
# Pages of the command's, which leave a place for the sidebar.
BESIDE = {"playground.html": "The playground", "report.html": "Every table and figure"}
CHAPTER = re.compile(r'<h2>(?:((?:Table|Figure) \d+\w?): )?([^<]*)</h2>(?:(?!<h2>).)*?'
    r'<section id="((?:table|fig)-[^"]+)"', re.S)
DECLARED = re.compile(r"^(?:func|type) (\w+)", re.M)
PLACE = re.compile(r"<!-- site -->.*?<!-- end of site -->", re.S)


def page_name(path):
    return str(path).removesuffix(".md").replace("/", "-") + ".html"


class Document(Page):
    """A file of Markdown as a page. Its headings have the ids that GitHub gives them."""

    runs = False

    def __init__(self, path, shown, targets, folder):
        super().__init__(path, v4.new_notebook(cells=[v4.new_markdown_cell(path.read_text(encoding="utf-8"))]), targets,
            folder)
        self.shown = shown
        self.name, self.about = page_name(shown), ""
        if shown == "README.md":
            self.title = "Readme"  # its heading is the project's name

    def slug(self, text):
        return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


class Package(Page):
    """A Go package's documentation as a page: the text of 'go doc -all'."""

    runs = False

    def __init__(self, path, lead, text):
        self.path, self.shown, self.title, self.lead = pathlib.Path(path), path, path, lead
        self.name, self.about, self.names = page_name("go/" + path), "", DECLARED.findall(text)
        self.contents = [(2, name, name) for name in self.names]
        self.opening = f'<div class="text"><h1>{path}</h1></div>'
        marked = DECLARED.sub(lambda m: f'<span id="{m[1]}">{m[0]}</span>', html.escape(text, quote=False))
        self.body = f'<div class="text"><pre class="code" tabindex="0">{marked}</pre></div>'


def go(project, *args):
    done = subprocess.run(["go", *args], cwd=project, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Fault(f"go {' '.join(args)}: {done.stderr.strip()}")
    return done.stdout


def packages(project):
    """The documentation of the module's public packages; an error if Go cannot give it."""
    listed = go(project, "list", "-f", '{{if and .Doc (ne .Name "main")}}{{.ImportPath}}\t{{.Doc}}{{end}}', "./...")
    found = [line.split("\t") for line in listed.splitlines()]
    return [Package(path.removeprefix("nodemask/"), lead, go(project, "doc", "-all", path)) for path, lead in found
        if "/internal/" not in path]


def targets(project, notebooks):
    """The pages of what has one, by the file in the project."""
    out = {(project / name).resolve(): page_name(name) for name in DOCUMENTS if (project / name).is_file()}
    return {**out, **{path.resolve(): path.stem + ".html" for path in notebooks}}


def tables(folder, notebooks):
    """All tables and figures of the report, and the figures that are headings of notebooks alone; those with the
    paper's numbers first: [(address, number, title)]."""
    report = folder / "report.html"
    chapters = CHAPTER.findall(report.read_text(encoding="utf-8")) if report.is_file() else []
    found = [(f"report.html#{id}", number.removesuffix(": "), title) for number, title, id in chapters]
    found += [(f"{page.name}#{urllib.parse.quote(id)}", *title.split(": ", 1)) for page in notebooks
        for level, id, title in page.contents if level == 3 and title.startswith("Figure ")]

    def order(row):
        number = row[1]
        return (not number, number.startswith("F"), int("".join(filter(str.isdigit, number)) or 0), number)

    return sorted(found, key=order)


class Site:
    """All pages by door, for the sidebar and the search."""

    def __init__(self, project, folder, notebooks, packages):
        where = targets(project, [page.path for page in notebooks])
        documents = {name: Document(project / name, name, where, folder) for name in DOCUMENTS
            if (project / name).is_file()}
        self.notebooks, self.packages, self.written = notebooks, packages, list(documents.values())
        self.tables = tables(folder, notebooks)
        rest = {page.path.stem.split("-")[0]: page for page in notebooks}
        self.groups = [("", [("index.html", "Overview")])]
        for door, names in DOORS.items():
            links = []
            for name in names:
                if page := documents.get(name) or rest.pop(name, None):
                    links.append((page.name, page.title))
                elif name in BESIDE and (folder / name).is_file():
                    links.append((name, BESIDE[name]))
            self.groups.append((door, links))
        links = dict(self.groups)
        links["Check the evidence"] += [(page.name, page.title) for page in rest.values()]
        links["Check the evidence"] += [(address, f"{number}: {title}") for address, number, title in self.tables
            if number]
        links["Use from Go"] += [(page.name, page.title) for page in packages]

    def sidebar(self, name, contents=()):
        """The sidebar of a page: the group that the page is in is open, and below the page are its parts."""
        out = ['<details class="site"><summary>Menu and search</summary><nav aria-label="Site">',
            '<p><a class="brand" href="index.html">nodemask</a></p>',
            '<div class="search" hidden><input type="search" aria-label="Search all pages" placeholder="Search">'
            '<ul aria-live="polite"></ul></div>']
        for group, links in self.groups:
            here = not group or any(target == name for target, _ in links)
            if group:
                out.append(f'<details{" open" if here else ""}><summary>{group}</summary>')
            out.append("<ul>")
            for target, title in links:
                current = ' aria-current="page"' if target == name else ""
                parts = "".join(f'<li><a href="#{html.escape(urllib.parse.quote(id))}">{text}</a></li>'
                    for level, id, text in contents
                    if level == 2) if current else ""
                out.append(
                    f'<li><a href="{html.escape(urllib.parse.quote(target, safe="/#%"))}"{current}>{title}</a>'
                    f'{f"<ul>{parts}</ul>" if parts else ""}</li>')
            out.append("</ul>" + ("</details>" if group else ""))
        return "\n".join(out) + "\n</nav></details>"

    def index(self):
        """What is searched: a title, where it is, its address, and the words of the text below it."""
        plain = lambda text: html.unescape(re.sub(r"<[^>]+>", "", text))
        words = lambda text: " ".join(sorted(set(re.findall(r"[a-z][\w-]{2,}",
            html.unescape(re.sub(r"<(script|style)\b.*?</\1>|<[^>]+>", " ", text, flags=re.S)).lower()))))
        out = [[title, "", target] for _, links in self.groups for target, title in links]
        for page in [*self.notebooks, *self.written]:
            text = page.opening + page.body
            starts = [text.find(f' id="{html.escape(id)}">') for _, id, _ in page.contents]
            for (_, id, title), start, end in zip(page.contents, starts, [*starts[1:], len(text)]):
                below = words(re.sub(r"^.*?</h\d>", "", text[start:end], flags=re.S))
                out.append([plain(title), page.title, f"{page.name}#{urllib.parse.quote(id)}"] + ([below] if below else []))
        out += [[name, "package " + p.title, f"{p.name}#{name}"] for p in self.packages for name in p.names]
        return out

    def write(self, folder):
        """Writes the script that searches, and puts the sidebar into the pages that the command wrote."""
        data = json.dumps(self.index(), ensure_ascii=False, separators=(",", ":"))
        script = (HERE / "sidebar.js").read_text(encoding="utf-8")
        write_whole(folder / "site.js", f"window.nodemaskIndex = {data};\n{script}")
        style = (HERE / "sidebar.css").read_text(encoding="utf-8")
        for name in BESIDE:
            path = folder / name
            if not path.is_file():
                continue
            text = path.read_text(encoding="utf-8")
            fragment = f'<style>{style}</style>{self.sidebar(name)}<script src="site.js" defer></script>'
            if name == "report.html" and (folder / "front.js").is_file():
                fragment += '<script src="front.js" defer></script>'
            changed = PLACE.sub(lambda _: f"<!-- site -->{fragment}<!-- end of site -->", text, count=1)
            if changed != text:
                write_whole(path, changed)
