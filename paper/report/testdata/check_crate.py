"""Reads the project's RO-Crate as Python's rocrate does, and checks what RO-Crate 1.1 asks of it: python check_crate.py FOLDER"""

import json
import pathlib
import sys

from rocrate.rocrate import ROCrate

root = pathlib.Path(sys.argv[1])
crate = ROCrate(root)
assert crate.version == "1.1", crate.version
dataset = crate.root_dataset
for needed in ("name", "description", "datePublished", "license"):
    assert dataset.get(needed), f"the root has no {needed}"
assert crate.mainEntity is None
files = [e for e in crate.data_entities]
assert files and len(files) == len(dataset["hasPart"]), "a file that the root does not list"
for f in files:
    assert (root / f.id).is_file(), f"{f.id}: no such file"
# Nothing refers to what is not there.
graph = json.loads((root / "ro-crate-metadata.json").read_text(encoding="utf-8"))["@graph"]
ids = {e["@id"] for e in graph}
assert len(ids) == len(graph), "an entity twice"
outside = {"https://w3id.org/ro/crate/1.1"}


def references(value):
    if isinstance(value, list):
        for v in value:
            yield from references(v)
    elif isinstance(value, dict) and set(value) == {"@id"}:
        yield value["@id"]


for entity in graph:
    for value in entity.values():
        for id in references(value):
            assert id in ids | outside, f"{entity['@id']} refers to {id}, which is not there"
print(f"{len(files)} files, {len(graph)} entities")
