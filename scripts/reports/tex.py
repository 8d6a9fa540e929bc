"""TeX formulas as MathML, which browsers show by themselves: a report needs no script for it."""

import re
import xml.etree.ElementTree as ET

import latex2mathml.converter

from sources import Fault

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
# Operators whose limits stand above and below them in a formula of its own, and beside them in a line of text.
LARGE = set("∑∏∐⋃⋂⨁⨂⨆") | {"max", "min", "lim", "sup", "inf", "argmax", "argmin"}
WITH_LIMITS = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}


def mathml(tex, display):
    try:
        root = ET.fromstring(latex2mathml.converter.convert(tex, display="block" if display else "inline"))
    except Exception as e:
        raise Fault(f"the formula {tex!r} is not understood: {e or type(e).__name__}") from e
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{NAMESPACE}}}")
    for element in root.iter():
        mend(element)
    # What it does not know, it writes down as it is.
    if unknown := re.search(r"\\[A-Za-z]+", "".join(root.itertext())):
        raise Fault(f"the formula {tex!r} is not understood: {unknown.group()}")
    root.set("alttext", tex)
    return ET.tostring(root, encoding="unicode")


def mend(element):
    """Puts right what latex2mathml writes otherwise than TeX would set it."""
    if element.tag in WITH_LIMITS and len(element) and element[0].tag in ("mo", "mi") and element[0].text in LARGE:
        element.tag = WITH_LIMITS[element.tag]
        element[0].tag = "mo"
        element[0].set("movablelimits", "true")
    if element.tag == "mi" and element.text == "~":  # \sim
        element.tag, element.text = "mo", "∼"
    # \mathrm{MLP} is one name, not three variables.
    if element.tag == "mrow" and len(element) > 1 and all(c.tag == "mi" and c.get("mathvariant") == "normal"
        for c in element):
        name = "".join(c.text or "" for c in element)
        element.clear()
        element.tag, element.text = "mi", name
