"""The Content-Security-Policy of a page: it loads nothing, and runs nothing but what was in it when it was written."""

import base64
import hashlib
import html
import re
from html.parser import HTMLParser

# What the template has in the policy's place until the page's text, which the policy depends on, is there.
PLACEHOLDER = "policy"
# Scripts of other types are data, which a browser does not run.
RUNS = {"", "module", "text/javascript", "application/javascript"}
# A script that lies beside the page, and that is not part of it.
BESIDE = re.compile(r"[\w.-]+\.m?js")


class Inline(HTMLParser):
    """Finds what a policy has to name: scripts, style sheets, style attributes, and scripts beside the page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.scripts, self.styles, self.attributes, self.beside = [], [], set(), False
        self.into, self.drawing = None, 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = {k: v or "" for k, v in attributes}
        self.drawing += tag == "svg"
        if "style" in values:
            self.attributes.add(values["style"])
        if tag == "style":
            self.into = self.styles
        elif tag == "script" and values.get("src"):
            self.beside = self.beside or bool(BESIDE.fullmatch(values["src"]))
        elif tag == "script" and values.get("type", "").lower() in RUNS:
            self.into = self.scripts
        if self.into is not None and tag in ("style", "script"):
            self.into.append("")

    def handle_data(self, data):
        if self.into is not None:
            # Within SVG the text of a <style> is not raw: browsers read its references.
            self.into[-1] += html.unescape(data) if self.drawing else data

    def handle_endtag(self, tag):
        self.drawing -= tag == "svg"
        if tag in ("style", "script"):
            self.into = None


def digest(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def of(text, own=()):
    """The policy for a page's text. Its own scripts, other than those that came with outputs, write no styles."""
    found = Inline(text)
    scripts = sorted({digest(s) for s in found.scripts})
    # From file:// only file: means "beside the page" to every browser; 'self' does to Chromium, and to all once the
    # page is served.
    beside = ["'self'", "file:"] if found.beside else []
    if found.beside or set(found.scripts) - set(own):
        # Programs write styles as they go: the explorer of trees has a style sheet in a shadow tree, whose text no hash
        # can be taken of here. Styles can load nothing, with img-src and font-src as they are.
        styles = ["'unsafe-inline'"]
    else:
        styles = sorted({digest(s) for s in found.styles})
        if found.attributes:
            styles += ["'unsafe-hashes'", *sorted(digest(s) for s in found.attributes)]
    directives = {
        "default-src": ["'none'"],
        "script-src": [*beside, *scripts, "'wasm-unsafe-eval'"],
        "style-src": styles or ["'none'"],
        "img-src": ["data:"],
        "worker-src": ["blob:"],
        # From a server of the page's own its program may stream; from a file nothing is asked for.
        "connect-src": ["'self'"] if found.beside else ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    return "; ".join(f"{name} {' '.join(values)}" for name, values in directives.items())


def put_into(text, own=()):
    """The page with its policy in the placeholder's place."""
    before, after = f'content="{PLACEHOLDER}"', f'content="{html.escape(of(text, own), quote=True)}"'
    # Single quotes need no escape in the attribute, and are easier to read without.
    return text.replace(before, after.replace("&#x27;", "'"), 1)
