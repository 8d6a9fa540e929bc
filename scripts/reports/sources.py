"""Notebooks as they are kept: without outputs, with unique ids, for the project's own kernel."""

import json
import os
import pathlib
import re

import nbformat

KERNEL = {"display_name": "Go (nodemask)", "language": "go", "name": "nodemask"}
LANGUAGE = {"file_extension": ".go", "mimetype": "text/x-go", "name": "go"}


class Fault(Exception):
    """What is wrong with a notebook, in one line."""


def write_whole(path, text):
    """Writes a file under another name, and gives it its own once it is on the disk."""
    scratch = path.with_name(f".{path.name}.part")
    with open(scratch, "w", encoding="utf-8") as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    os.replace(scratch, path)


def find(folder):
    """The notebooks of a folder, in the order of their names."""
    return sorted(p for p in pathlib.Path(folder).glob("*.ipynb") if not p.name.startswith("."))


def read(path):
    try:
        # Without validation, which would give a cell without an id another one each time.
        return nbformat.v4.reads(path.read_text(encoding="utf-8"))
    except Exception as e:
        raise Fault(f"{path.name}: this is no notebook: {str(e).splitlines()[0]}") from e


def cleaned(notebook):
    """The notebook as it is to be committed. Cells that have an id keep it."""
    ids, cells = set(), []
    for cell in notebook.cells:
        if not cell.source.strip():
            continue
        name = cell.get("id") or ""
        if not name or name in ids:
            stem = re.sub(r"[^a-z0-9]+", "-", cell.source.lower()).strip("-")[:24] or "cell"
            name, n = stem, 1
            while name in ids:
                n += 1
                name = f"{stem}-{n}"
        ids.add(name)
        kept = {"cell_type": cell.cell_type, "id": name,
            "metadata": {k: v for k, v in cell.metadata.items() if k == "tags" and v}, "source": cell.source}
        if cell.cell_type == "code":
            kept.update(execution_count=None, outputs=[])
        if cell.cell_type == "markdown" and cell.get("attachments"):
            kept["attachments"] = cell.attachments
        cells.append(nbformat.from_dict(kept))
    return nbformat.from_dict({"cells": cells, "metadata": {"kernelspec": KERNEL, "language_info": LANGUAGE},
        "nbformat": 4, "nbformat_minor": 5})


def written(notebook):
    """A notebook as text: one line for each line of source, so that changes can be read."""
    return json.dumps(nbformat.v4.rwbase.split_lines(nbformat.from_dict(json.loads(json.dumps(notebook)))), indent=1,
        ensure_ascii=False, sort_keys=True) + "\n"


def clean(path):
    """Rewrites a notebook the way it is to be committed; true if that changed it."""
    text = written(cleaned(read(path)))
    if path.read_text(encoding="utf-8") == text:
        return False
    write_whole(path, text)
    return True
