"""What the front page says: findings and advice as tests have written them into docs/, and a card for
each notebook."""

import os
import re

import mistune

from sources import Fault

# The place of a verdict in the bar of claims. What is not here comes last, without a colour.
GRADES = ("reproduced", "same direction", "depends on the representation", "inconclusive", "contradicted",
    "cannot be tested", "not run")
ID = re.compile(r'\bid="([^"]+)"')
PICTURE = re.compile(r'<img\b[^>]*?\bsrc="(data:image/[^"]+)"')


def block(path, name):
    """The Markdown between <!-- name --> and <!-- end of name -->, which a Go test writes."""
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end of {name} -->", path.read_text(encoding="utf-8"), re.S)
    if not found:
        raise Fault(f"{path.name}: there is no part between <!-- {name} --> and <!-- end of {name} -->")
    return found.group(1)


def generated(path, name):
    """The items of a list in a block, a line each."""
    return [re.sub(r"\s+", " ", line).strip() for line in re.split(r"^- ", block(path, name), flags=re.M)
        if line.strip()]


def table(path, name, columns):
    """The first columns of a table in a block: its rows, the header first, each a list of HTML."""
    rows = [re.split(r"(?<!\\)\|", line.strip().strip("|"))[:columns] for line in block(path, name).splitlines()
        if line.startswith("|") and not re.match(r"\|[ :|-]+$", line)]
    if len(rows) < 2:
        raise Fault(f"{path.name}: no table between <!-- {name} --> and <!-- end of {name} -->")
    return [[inline(cell.strip()) for cell in row] for row in rows]


def answer(path):
    """What the answer's part of a document says: the headline, the sentences, the rows of the grid, each a list of HTML,
    and what the answer rests on: the items below the grid."""
    # A paragraph or an item may go on in further lines.
    text = re.sub(r"(?<=[^\n|])\n+ *(?=[^\s|*-])", " ", block(path, "answer"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    headline = next((re.sub(r"^\*\*|\*\*$", "", line) for line in lines if line.startswith("**")), "")
    rests = max((i for i, line in enumerate(lines) if line.startswith("|")), default=len(lines))
    sentences, limits = ([inline(line[2:]) for line in part if line.startswith("- ")]
        for part in (lines[:rests], lines[rests:]))
    rows = [[inline(cell.strip()) for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")
        and not re.match(r"\|[ :|-]+$", line)]
    return inline(headline), sentences, rows, limits


def inline(text):
    """Markdown of one line as HTML without links, which would lead from another folder."""
    out = mistune.create_markdown(escape=True)(text).strip()
    return re.sub(r"</?(?:p|a)\b[^>]*>", "", out)


class Line:
    """A line of a list: what it is about, what is said of that, and the command that gives it."""

    def __init__(self, text):
        found = re.fullmatch(r"(.*?)\s*`([^`]+)`", text)
        said, self.command = found.groups() if found else (text, "")
        about, colon, rest = said.partition(": ")
        self.about, self.says = (inline(about), inline(rest)) if colon else ("", inline(said))


def counts(text):
    """The claims by verdict, as parts of a bar: [(verdict, number, its place in GRADES, start in %, width in %)],
    or none if the line says something else."""
    found = re.match(r"Of the paper's (\d+) claims: (.*)", text)
    verdicts = re.findall(r"(\d+) ([a-z][a-z ]*[a-z])", found.group(2)) if found else []
    parts = [(name.strip(), int(n)) for n, name in verdicts]
    if not parts or sum(n for _, n in parts) != int(found.group(1)):
        return []
    out, start = [], 0
    for name, n in sorted(parts, key=lambda p: GRADES.index(p[0]) if p[0] in GRADES else len(GRADES)):
        width = 100 * n / int(found.group(1))
        out.append((name, n, GRADES.index(name) if name in GRADES else len(GRADES), round(start, 3), round(width, 3)))
        start += width
    return out


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


class Door:
    def __init__(self, title, says, pages, files):
        self.title, self.says = title, says
        self.links = [(page.name, page.title) for page in pages] + files


class Front:
    """All that the front page needs, for pages that are written into a folder."""

    def __init__(self, project, folder, pages, site=None):
        report = project / "docs/REPRODUCTION.md"
        self.headline, self.sentences, self.grid, self.limits = answer(report)
        findings = generated(report, "findings")
        self.counts = counts(findings[0]) if findings else []
        self.claims = Line(findings[0]) if self.counts else None
        # Model, nodes, what to do; the report has the numbers.
        self.advice = table(report, "advice", 3)
        self.trials = " ".join(generated(report, "trials"))
        self.gains = drawing(project / "docs/gains.svg", "front-")
        self.masked = panels(drawing(project / "docs/masked.svg", "front-"), 4)
        self.cards = [Card(page) for page in pages]
        self.waiting = sum("nodemask" not in page.notebook.metadata for page in pages)  # notebooks without a run

        documents = {page.shown: page.name for page in site.written} if site else {}

        # To a document's page or, without one, from wherever the pages are to the file.
        def file(name, title):
            if name in documents:
                return (documents[name], title)
            return (os.path.relpath(project / name, folder).replace(os.sep, "/"), title)

        def numbered(*numbers):
            return [p for n in numbers for p in pages if p.path.stem.startswith(n)]

        full, live = ([(name, title)] if (folder / name).is_file() else [] for name, title in (
            ("report.html", "Every table and figure, beside the published ones"),
            ("playground.html", "The playground, in this browser")))
        self.report = file("docs/REPRODUCTION.md", "the report")
        self.files = [
            file("docs/REPRODUCTION.md", "Report"), file("docs/CLAIMS.md", "Claims"),
            file("docs/claims.json", "Claims as data"), file("ro-crate-metadata.json", "RO-Crate"),
            file("docs/AUTHORS.md", "To the authors"),
            file("paper/PROTOCOL.md", "Protocol"), file("docs/PERFORMANCE.md", "Performance"),
            file("ARCHITECTURE.md", "Architecture"), file("environment.md", "Requirements"),
        ]
        self.doors = [
            Door("Understand it",
                 "What a network sees of a node, what masking takes away, and what that does to training.",
                 numbered("00", "01", "02") if live else numbered("00", "01", "02", "40"), live),
            Door("Check the evidence",
                 "Every claim with its verdict, and every experiment that the paper's text allows.",
                 numbered("31", "30"), full + [file("docs/REPRODUCTION.md", "The report"),
                         file("docs/CLAIMS.md", "All claims, and how they are graded")]),
            Door("Use it on your graph",
                 "Read a graph from CSV files, train with and without masking, write a layer of your own.",
                 numbered("03", "33", "04"), [file("docs/COMMANDS.md", "The command")]),
        ]
