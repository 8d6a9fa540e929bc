"""A notebook as an HTML page that needs nothing else."""

import base64
import html
import mimetypes
import os
import pathlib
import re
import urllib.parse

import jinja2
import mistune
from mistune.plugins.math import math as math_plugin
from mistune.plugins.table import render_table
from mistune.plugins.table import table as table_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

import policy
from frontpage import Front
from sources import Fault, write_whole
from tex import mathml

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
GENERATOR = '<meta name="generator" content="nodemask scripts/reports">'
# The first of these that an output has is shown.
PREFERRED = ("text/html", "image/svg+xml", "image/png", "image/jpeg", "text/markdown", "text/latex", "text/plain")


def code(source, language):
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return f'<pre class="code" tabindex="0"><code>{highlight(source, lexer, HtmlFormatter(nowrap=True))}</code></pre>\n'


def first_line(source):
    """What a folded cell shows of its code: its first line of Go that is not a comment, or else its first."""
    lines = [line.strip() for line in source.splitlines() if line.strip()
        and not line.startswith("%%")] or [source.strip()]
    return next((line for line in lines if not line.startswith("//")), lines[0])


def folded(source, language):
    """Code that a reader may want to see, behind what it shows."""
    summary = f"<summary>Code <code>{html.escape(first_line(source))}</code></summary>"
    return f'<details class="code">{summary}\n{code(source, language)}</details>\n'


def sized(fragment):
    """HTML whose pictures say how large they are, so that nothing moves when they are there. Those much wider than
    a phone say that, too."""

    def size(found):
        tag, mime, data = found.group(0), found.group(1), found.group(2)
        if re.search(r"\swidth=", tag):
            return tag
        if mime == "image/svg+xml":
            measured = re.search(rb'<svg\b[^>]*?\swidth="([\d.]+)"[^>]*?\sheight="([\d.]+)"',
                base64.b64decode(data[:1200]))
            width, height = (float(x) for x in measured.groups()) if measured else (0, 0)
        elif mime == "image/png" and len(raw := base64.b64decode(data[:64])) >= 24:
            width, height = int.from_bytes(raw[16:20]), int.from_bytes(raw[20:24])
        else:
            return tag
        if not width or not height:
            return tag
        broad = "" if width < 360 or " class=" in tag else ' class="broad"'
        return f'{tag[:4]} width="{round(width)}" height="{round(height)}"{broad}{tag[4:]}'

    return re.sub(r'<img\b[^>]*?\bsrc="data:(image/[a-z+]+);base64,([^"]*)"[^>]*>', size, fragment)


def data_uri(mime, data):
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


class Renderer(mistune.HTMLRenderer):
    """Markdown with formulas, highlighted code, pictures inside, and links to the other pages."""

    def __init__(self, page):
        super().__init__(escape=False)
        self.page = page

    def heading(self, text, level, **_):
        return self.page.heading(text, level)

    def block_code(self, source, info=None):
        return code(source.rstrip("\n"), (info or "text").split()[0])

    def inline_math(self, text):
        return mathml(text, display=False)

    def block_math(self, text):
        return f'<div class="formula" tabindex="0">{mathml(text, display=True)}</div>\n'

    def link(self, text, url, title=None):
        return super().link(text, self.page.link(url), title)

    def codespan(self, text):
        # A clone has the playground only after 'make', so texts name its file.
        shown, play = super().codespan(text), "playground.html"
        there = text == f"reports/{play}" and (self.page.folder / play).is_file()
        return f'<a href="{play}">{shown}</a>' if there else shown

    def image(self, text, url, title=None):
        # Wider than text, so that letters in it can be read; on a phone it scrolls.
        picture = sized(f'<img src="{self.page.picture(url)}" alt="{html.escape(text)}">')
        return f'<span class="scroll picture" tabindex="0">{picture}</span>' if ' width="' in picture else picture

    def inline_html(self, html):
        # An <img> of a stated width; Markdown has none. On a phone it is wider, and scrolls.
        return re.sub(r'<img src="([^":]+)"([^>]*)>', lambda m: '<span class="scroll picture" tabindex="0">'
            f'<img class="broad" src="{self.page.picture(m[1])}"{m[2]}></span>', html)

    def table(self, text):
        return f'<div class="scroll" tabindex="0">{render_table(self, text)}</div>\n'


class Page:
    # The pages of files of the project, to lead links to: notebooks alone, unless there is a site of more.
    targets = {}
    folder = PROJECT / "reports"  # of the pages
    runs = True  # its tables can be run in the browser

    def __init__(self, path, notebook, targets=None, folder=None):
        self.path, self.notebook, self.name = path, notebook, path.stem + ".html"
        self.shown, self.targets = path.name, self.targets if targets is None else targets
        self.folder = folder or self.folder
        self.title, self.lead, self.contents = path.stem, "", []
        self.ids, self.where, self.attachments = set(), "", {}
        self.markdown = mistune.create_markdown(renderer=Renderer(self),
            plugins=[table_plugin, math_plugin, "strikethrough", "url"])
        self.markdown.renderer.register("inline_math", lambda _, text: mathml(text, display=False))
        self.markdown.renderer.register("block_math", lambda _, text: Renderer.block_math(None, text))
        self.markdown.renderer.register("table", lambda _,
            text: f'<div class="scroll" tabindex="0"><table>\n{text}</table></div>\n')
        run = notebook.metadata.get("nodemask", {})
        size = "at small size (fewer trials, smaller examples)" if run.get("small") else "at full size"
        self.about = (f"Run on {run['date']} {size}, in {run['seconds']:.0f} s. " if run
            else "Not run here yet: ‘make’ runs it, and shows what its cells give. ")
        body = "\n".join(self.cell(n, c) for n, c in enumerate(notebook.cells, 1))
        # The contents come after the title and the sentence below it, on a phone too.
        opening = re.match(r'<div class="text">(<h1\b.*?</h1>\s*(?:<p>.*?</p>)?)', body, re.S)
        self.opening, self.body = (f"{opening.group(0)}</div>",
            f'<div class="text">{body[opening.end():]}') if opening else ("", body)

    def slug(self, text):
        """The id that JupyterLab gives a heading, so that links to it work in both."""
        return re.sub(r"\s+", "-", text.strip())

    def fault(self, what):
        return Fault(f"{self.path.name}, {self.where}: {what}")

    def heading(self, text, level):
        plain = html.unescape(re.sub(r"<[^>]+>", "", text))
        name, n = self.slug(plain), 1
        while name in self.ids:
            n += 1
            name = f"{self.slug(plain)}-{n}"
        self.ids.add(name)
        if level == 1 and not self.contents and self.title == self.path.stem:
            self.title = plain
        elif level == 1:
            raise self.fault("a second heading of the first level: a notebook has one title")
        elif level in (2, 3):
            self.contents.append((level, name, text))
        target = html.escape(urllib.parse.quote(name))
        anchor = "" if level == 1 else f' <a class="anchor" href="#{target}" aria-label="Link to this section">#</a>'
        return f'<h{level} id="{html.escape(name)}">{text}{anchor}</h{level}>\n'

    def link(self, url):
        """Links to what has a page lead to it. Those to other files lead from the pages' folder."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme or not parts.path:
            return url
        file = (self.path.parent / urllib.parse.unquote(parts.path)).resolve()
        if file in self.targets:
            path = self.targets[file]
        elif parts.path.endswith(".ipynb"):
            path = parts.path.removesuffix(".ipynb") + ".html"
        elif self.targets and file.exists():  # else it is a page beside this one
            path = os.path.relpath(file, self.folder.resolve()).replace(os.sep, "/")
        else:
            path = parts.path
        return urllib.parse.urlunsplit(parts._replace(path=urllib.parse.quote(path)))

    def picture(self, url):
        if url.startswith("attachment:"):
            mime, data = next(iter(self.attachments[url.removeprefix("attachment:")].items()))
            return f"data:{mime};base64,{data}"
        if urllib.parse.urlsplit(url).scheme:
            return url
        file = self.path.parent / urllib.parse.unquote(url)
        if not file.is_file():
            raise self.fault(f"there is no picture {url}")
        return data_uri(mimetypes.guess_type(file.name)[0] or "image/png", file.read_bytes())

    def cell(self, number, cell):
        self.where, self.attachments = f"cell {number}", cell.get("attachments", {})
        try:
            if cell.cell_type == "markdown":
                out = self.markdown(cell.source)
                if not self.lead and (found := re.search(r"<p>(.*?)</p>", out, re.S)):
                    self.lead = re.sub(r"</?a\b[^>]*>", "", found.group(1))
                return f'<div class="text">{out}</div>'
            if cell.cell_type != "code":
                return ""
            outputs = "".join(self.output(o) for o in merged(cell.outputs))
            # Where a cell prints at most, its code is what it shows.
            shows = any(o.output_type in ("display_data", "execute_result") for o in cell.outputs)
            shown = folded(cell.source, "go") if shows else code(cell.source, "go")
            if outputs:
                outputs = f'<div class="output">{outputs}</div>'
            return f'<div class="cell">{shown}{outputs}</div>'
        except Fault as e:
            raise e if self.path.name in str(e) else self.fault(str(e)) from e

    def output(self, o):
        if o.output_type == "stream":
            kind = "stdout" if o.name == "stdout" else "stderr"
            return f'<pre class="{kind}" tabindex="0">{html.escape(plain(o.text))}</pre>\n'
        if o.output_type == "error":
            return f'<pre class="stderr" tabindex="0">{html.escape(plain(chr(10).join(o.traceback)))}</pre>\n'
        mime = next((m for m in PREFERRED if m in o.data), None)
        if mime is None:
            raise self.fault(f"an output can be shown by none of {', '.join(PREFERRED)}")
        data = o.data[mime]
        if mime == "text/html":
            # What may be wider than a phone can be scrolled by keys, too.
            focus = ' tabindex="0"' if "<table" in data else ""
            return f'<div class="html"{focus}>{sized(data)}</div>\n'
        if mime.startswith("image/"):
            raw = data.encode() if mime == "image/svg+xml" else base64.b64decode(data)
            alt = o.data.get("text/plain") or "picture without a description"
            image = f'<img src="{data_uri(mime, raw)}" alt="{html.escape(alt)}">'
            return f'<div class="html" tabindex="0">{sized(image)}</div>\n'
        if mime == "text/markdown":
            return f'<div class="text">{self.markdown(data)}</div>\n'
        if mime == "text/latex":
            return f'<div class="formula" tabindex="0">{mathml(data.strip().strip("$"), display=True)}</div>\n'
        return f'<pre class="stdout" tabindex="0">{html.escape(plain(data))}</pre>\n'


def merged(outputs):
    """Outputs with what was printed to one stream in one piece."""
    out = []
    for o in outputs:
        if o.output_type == "stream" and out and out[-1].output_type == "stream" and out[-1].name == o.name:
            out[-1] = type(o)({**out[-1], "text": out[-1].text + o.text})
        else:
            out.append(o)
    return out


def plain(text):
    """Text without colours, and of a line that was written over and over (a progress bar) its last state."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n")).rstrip("\n")


def write_site(folder, pages, project=PROJECT, site=None):
    """Writes index.html, a page for each notebook and, with a site, for all that it has. It removes pages of what
    is no more."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    # By this script, which 'nodemask page --site' writes, pages train: without it they are whole, too.
    live = (folder / "front.js").exists()
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("style.css", "page.js"))
    style += (HERE / "sidebar.css").read_text(encoding="utf-8") if site else ""

    def write(name, template, contents=(), **values):
        text = environment.get_template(template).render(style=style, script=script, live=live,
            policy=policy.PLACEHOLDER, sidebar=site.sidebar(name, contents) if site else "", **values)
        write_whole(folder / name, policy.put_into(text, own=[script]))

    for i, page in enumerate(pages):
        write(page.name, "page.html.jinja", page.contents, page=page, before=pages[i - 1] if i else None,
            after=pages[i + 1]
            if i + 1 < len(pages) else None)
    others = [*site.written, *site.packages] if site else []
    for page in others:
        write(page.name, "page.html.jinja", page.contents, page=page, before=None, after=None)
    write("index.html", "index.html.jinja", tables=site.tables if site else [],
        front=Front(project.resolve(), folder.resolve(), pages, site))
    if site:
        site.write(folder)
    ours = {page.name for page in [*pages, *others]} | {"index.html"}
    for path in folder.glob("*.html"):
        if path.name not in ours and GENERATOR in path.read_text(encoding="utf-8"):
            path.unlink()
