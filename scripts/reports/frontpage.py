"""What the front page says: the answer and what to do, as tests have written them into README and docs/, and a card
for each notebook."""

import os
import re

import mistune
from mistune.plugins.table import table

from sources import Fault

ID = re.compile(r'\bid="([^"]+)"')
PICTURE = re.compile(r'<img\b[^>]*?\bsrc="(data:image/[^"]+)"')


def block(path, name):
    """The Markdown between <!-- name --> and <!-- end of name -->, which a Go test writes."""
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end of {name} -->", path.read_text(encoding="utf-8"), re.S)
    if not found:
        raise Fault(f"{path.name}: there is no part between <!-- {name} --> and <!-- end of {name} -->")
    return found.group(1)


def shown(path, name):
    """A block as HTML, without links, which would lead from another folder."""
    out = mistune.create_markdown(escape=True, plugins=[table])(block(path, name)).strip()
    out = re.sub(r"</?a\b[^>]*>", "", out)
    return re.sub(r"(?s)<table>.*?</table>", r'<div class="scroll" tabindex="0">\g<0></div>', out)


def drawing(path, prefix):
    """An SVG file as part of a page: its ids, and what refers to them, begin with a prefix."""
    text = path.read_text(encoding="utf-8").strip()
    text = re.sub(r"^<\?xml[^>]*\?>\s*", "", text)
    # How wide it may be is the page's to say.
    text = re.sub(r'^(<svg\b[^>]*?)\s+style="[^"]*"', r"\1", text)
    for name in sorted(set(ID.findall(text)), key=len, reverse=True):
        text = re.sub(rf'\bid="{re.escape(name)}"', f'id="{prefix}{name}"', text)
        text = re.sub(rf"(?<=#){re.escape(name)}(?![\w-])", prefix + name, text)
        text = re.sub(rf'(\baria-[a-z]+="(?:[^"]* )?){re.escape(name)}(?=[" ])', rf"\g<1>{prefix}{name}", text)
    return text


def panels(svg, number):
    """A drawing of trees side by side as that many drawings, which can stand below one another: the first has all,
    the others use it."""
    root = re.match(r'<svg [^>]*?\bid="([^"]+)"[^>]*?\bviewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>', svg)
    boxes = sorted((float(x), float(x) + float(w))
        for x, w in re.findall(r'<rect x="([\d.]+)"[^>]*? width="([\d.]+)"', svg))
    if not root or len(boxes) < number:
        raise Fault("the drawing of masked trees has no id, no viewBox or no nodes")
    # Between trees are the widest gaps.
    name, width, height = root.group(1), float(root.group(2)), float(root.group(3))
    gaps, end = [], boxes[0][1]
    for x, right in boxes:
        if x > end:
            gaps.append((x - end, (x + end) / 2))
        end = max(end, right)
    cuts = [0, *sorted(middle for _, middle in sorted(gaps)[len(gaps) - number + 1:]), width]
    widest = max(b - a for a, b in zip(cuts, cuts[1:]))
    body = svg[root.end():].removesuffix("</svg>")
    head = "".join(m.group(0) for m in re.finditer(r"<(title|desc|style)\b.*?</\1>", body, re.S))
    drawn = re.sub(r"<(title|desc|style)\b.*?</\1>", "", body, flags=re.S).strip()
    # What is used elsewhere is styled by what is above it there.
    head = re.sub(rf"#{re.escape(name)} ", f"#{name}-drawn ", head)
    how = " ".join(re.findall(r'\b(?:fill|font-size|font-family)="[^"]*"', root.group(0)))
    named = " ".join(re.findall(r'\b(?:id|role|aria-labelledby)="[^"]*"', root.group(0)))
    out = []
    for a, b in zip(cuts, cuts[1:]):
        # A drawing within the drawing cuts off the other trees.
        part = f'<use href="#{name}-drawn"/>' if out else f'<g id="{name}-drawn">{drawn}</g>'
        part = (f'<svg x="{(widest - b + a) / 2:g}" width="{b - a:g}" height="{height:g}" '
            f'viewBox="{a:g} 0 {b - a:g} {height:g}">{part}</svg>')
        outer = f'viewBox="0 0 {widest:g} {height:g}" width="{widest * 1.1:.0f}" height="{height * 1.1:.0f}" {how}'
        out.append(f'<svg aria-hidden="true" {outer}>{part}</svg>'
            if out else f"<svg {named} {outer}>{head}{part}</svg>")
    return "\n".join(out)


class Card:
    """A notebook in the list of all: how long it takes, what it is about, and the first picture that it shows, or
    else its first code."""

    def __init__(self, page):
        self.name, self.title, self.number = page.name, page.title, page.path.stem.split("-")[0]
        lead = re.sub(r"</?em>", "", page.lead)
        found = re.match(r"([^<.]{3,40})\.\s+(.*)", lead, re.S)
        self.minutes, said = found.groups() if found else ("", lead)
        # One sentence: a notebook's own page has the others.
        self.sentence = re.split(r"(?<=[a-z>)][.!?])\s+(?=[A-Z<])", said, maxsplit=1)[0]
        picture = PICTURE.search(page.body)
        self.picture = picture.group(1) if picture else ""
        code = next((c.source for c in page.notebook.cells if c.cell_type == "code" and c.source.startswith("%%")
            and "\n" in c.source), "")
        self.code = "\n".join(code.splitlines()[1:12])


class Front:
    """All that the front page needs, for pages that are written into a folder."""

    def __init__(self, project, folder, pages, site=None):
        report = project / "docs/REPRODUCTION.md"
        self.answer = shown(project / "README.md", "answer")
        self.why, self.todo, self.counts, self.trials = (shown(report, name)
            for name in ("why", "todo", "counts", "trials"))
        self.gains = drawing(project / "docs/gains.svg", "front-")
        self.masked = panels(drawing(project / "docs/masked.svg", "front-"), 4)
        self.cards = [Card(page) for page in pages]
        self.waiting = sum("nodemask" not in page.notebook.metadata for page in pages)  # notebooks without a run

        documents = {page.shown: page.name for page in site.written} if site else {}
        report_file = os.path.relpath(report, folder).replace(os.sep, "/")
        self.report = documents.get("docs/REPRODUCTION.md", report_file)
        # README's doors, each with the first of its pages: the sidebar has all.
        self.doors = [(title, links[:5]) for title, links in site.groups if title] if site else []
