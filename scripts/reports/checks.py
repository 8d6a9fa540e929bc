"""What must hold for the pages: they load nothing, all links lead somewhere, and they can be read without seeing
them."""

import re
import urllib.parse
from html.parser import HTMLParser

import policy

# Attributes by which an element loads something by itself. A link (href of <a>) is only followed when clicked.
LOADS = {"src", "srcset", "data", "poster", "background", "xlink:href"}
LOADING_LINKS = {"link", "use", "image", "feimage"}
STYLE_LOADS = re.compile(r"""@import|url\(\s*["']?(?!["']?\s*(?:data:|\#))""", re.I)
SCRIPT_LOADS_ELSEWHERE = re.compile(r"""https?://(?!www\.w3\.org/)|\bimport\s*\(|XMLHttpRequest|WebSocket""")
SCRIPT_LOADS = re.compile(SCRIPT_LOADS_ELSEWHERE.pattern + r"""|\bfetch\s*\(""")
KEPT_WHOLE = {"script", "style"}
EMPTY = "a cell of a table is empty"
# What a reader must not see: Markdown that nobody rendered, and HTML that was escaped twice. Code may have both.
RAW = re.compile(r"\*\*\w|\w\*\*|\]\((?:\.|#|http|\w+[./])|^\s*\|.*\|\s*$|\|\s*:?-{3,}|\\[\[\]<>*_|]|<!--|&(?:amp|lt|gt|quot|nbsp|#\d+);",
    re.M)
CODE = {"pre", "code", "math", "script", "style", "textarea", "kbd", "samp"}


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.faults, self.ids, self.links, self.levels, self.inside = [], set(), [], [], None
        self.asks_its_server = False
        self.header, self.code, self.cell = False, 0, None  # depth in elements of code; the text of the cell that is open

    def handle_starttag(self, tag, attributes):
        values = {k: v or "" for k, v in attributes}
        if "id" in values:
            if values["id"] in self.ids:
                self.faults.append(f"the id {values['id']!r} is there twice")
            self.ids.add(values["id"])
        if tag == "meta" and values.get("http-equiv", "").lower() == "content-security-policy":
            self.asks_its_server = "connect-src 'self';" in values.get("content", "") + ";"
        for name, value in values.items():
            if name.startswith("on"):
                self.faults.append(f"<{tag} {name}> is a handler, which the page's policy does not let run")
            if tag == "script" and name == "src" and policy.BESIDE.fullmatch(value):
                self.links.append(value)
                continue
            loads = name in LOADS or (name == "href" and tag in LOADING_LINKS)
            if loads and not value.strip().startswith(("data:", "#")):
                self.faults.append(f"<{tag} {name}> loads {value[:80]!r}, which is not inside the page")
            if name == "style" and STYLE_LOADS.search(value):
                self.faults.append(
                    f"the style of a <{tag}> loads something that is not inside the page: {value[:80]!r}")
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "img" and not values.get("alt", "").strip() and values.get("role") != "presentation":
            self.faults.append("a picture has no text that stands for it (alt)")
        if re.fullmatch("h[1-6]", tag):
            level = int(tag[1])
            if level > (self.levels[-1] if self.levels else 0) + 1:
                self.faults.append(
                    f"a heading of level {level} follows one of level {self.levels[-1] if self.levels else 0}")
            self.levels.append(level)
        self.inside = tag if tag in KEPT_WHOLE else self.inside
        self.code += tag in CODE
        self.header = tag == "thead" or self.header and tag != "tbody"  # its corners may be empty
        if tag == "td" and not self.header:
            self.cell = ""
        elif self.cell is not None and tag in {"img", "svg", "input", "button", "select"}:
            self.cell += tag

    def handle_endtag(self, tag):
        if tag == self.inside:
            self.inside = None
        self.code -= tag in CODE
        if tag == "td" and self.cell is not None:
            if not self.cell.strip():
                self.faults.append(EMPTY)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        if not self.code and (found := RAW.search(data)):
            self.faults.append(f"a reader sees raw Markdown or an entity, {found.group()!r}, in {data.strip()[:80]!r}")
        if self.inside == "style" and STYLE_LOADS.search(data):
            self.faults.append("a <style> loads something that is not inside the page")
        # The policy holds what is fetched to the page's own server.
        loads = SCRIPT_LOADS_ELSEWHERE if self.asks_its_server else SCRIPT_LOADS
        if self.inside == "script" and (found := loads.search(data)):
            self.faults.append(f"a <script> may load something that is not inside the page: {found.group()!r}")


def check_site(folder):
    """What is wrong with the pages in a folder, a line each."""
    readers, faults = {}, []
    for path in sorted(folder.glob("*.html")):
        readers[path] = reader = Reader()
        reader.feed(path.read_text(encoding="utf-8"))
        if reader.levels.count(1) != 1:
            reader.faults.append(f"{reader.levels.count(1)} titles (h1), expected 1")
    pages, there = {path.resolve(): reader for path, reader in readers.items()}, {}
    for path, reader in readers.items():
        faults += [f"{path.name}: {f}" for f in reader.faults]
        for link in reader.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            if parts.path not in there:  # all pages are in one folder, and link to each other often
                target = (folder / urllib.parse.unquote(parts.path)).resolve()
                there[parts.path] = (pages.get(target), target.exists())
            other, exists = there[parts.path] if parts.path else (reader, True)
            fragment = urllib.parse.unquote(parts.fragment)
            if not exists:
                faults.append(f"{path.name}: the link {link} leads nowhere")
            elif other and fragment and fragment not in other.ids:
                faults.append(f"{path.name}: the link {link} leads to a section that is not there")
    return faults
