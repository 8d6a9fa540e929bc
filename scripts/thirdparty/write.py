"""Prints THIRD_PARTY.md from what go-licenses said: write.py GOROOT FOLDER. See run.sh."""

import pathlib
import re
import sys

HEAD = """# What others made

nodemask is under the [Apache License 2.0](LICENSE). Its programs, and the pages that it writes, hold what follows;
whoever passes them on passes on these notices too. `make third-party` writes this page, and `go test ./internal/floors`
holds it to what is linked. `nodemask-beam`, a module of its own that whoever wants it builds, links Apache Beam, 80
modules in all: `make sbom` lists them, with their licences, once it is built.

| what | licence | linked into |
|---|---|---|
"""
OTHERS = """
| what else | licence | where |
|---|---|---|
| d3-hierarchy 3.1.3, d3-selection 3.0.1 | ISC | inlined in `aggtree/explorer/explorer.js`, `page/playground.js` and `page/front.js`, and so in pages; each begins with the [notice](aggtree/explorer/LICENSE.d3) |
| Go's `wasm_exec.js` | BSD-3-Clause, as Go | inlined in pages that train |
| the graphs of Cora, CiteSeer and PubMed | MIT for the files that they were made of; their authors name none | embedded in the programs; [datasets/SOURCES.md](datasets/SOURCES.md) |
| XLA's plugin for the CPU | Apache-2.0; its notices are in `.nodemask/pjrt/licenses` | fetched by set-up, not part of the sources; in container images |
| XLA's plugin for GPUs, CUDA's libraries | Apache-2.0; NVIDIA's terms | fetched by `CUDA=1 make setup` alone; in container images of the target `cuda` |
| JupyterLab, gonb, gopls and what they need | BSD, MIT and others, each with its own notice | fetched or built by `make setup-lab` in `.nodemask/lab`, as programs of their own |

Plotly is in none of this: charts are SVG of nodemask's own.

## The texts

Texts that differ in nothing but line breaks are here once.
"""
KINDS = ("command", "pages", "cells")


def main(goroot, folder):
    used, kept = {}, {}
    for kind in KINDS:
        for line in (folder / kind).read_text(encoding="utf-8").splitlines():
            name, licence, path = line.split("\t")
            used.setdefault((name, licence, path), []).append(kind)
    used["Go's standard library and run time", "BSD-3-Clause", str(goroot / "LICENSE")] = list(KINDS)
    print(HEAD, end="")
    for (name, licence, path), kinds in sorted(used.items()):
        print(f"| {name} | {licence} | {', '.join(kinds)} |")
        text = pathlib.Path(path).read_text(encoding="utf-8").replace("\f", "")
        kept.setdefault(re.sub(r"\s+", " ", text).strip(), (text, []))[1].append(name)
    print(OTHERS, end="")
    for text, names in kept.values():
        lines = "\n".join(line.rstrip() for line in text.strip("\n").replace("\t", "    ").splitlines())
        print(f"\n### {', '.join(dict.fromkeys(names))}\n\n~~~\n{lines}\n~~~")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
