"""Completes names of cells and explains them, by gopls: a cell is a file of a module of its own beside the project."""

import collections
import itertools
import json
import os
import pathlib
import re
import subprocess
import threading

WORD = re.compile(r"\w*$")
NAME = re.compile(r"^[\w.]+")
QUALIFIER = re.compile(r"\b([a-z]\w*)\.")
IMPORTED = re.compile(r'^\s*(?:import\s+)?(\w+\s+)?"([^"]+)"', re.M)
DECLARED = re.compile(r"^(?:func|type|var|const)\s+(\([^)]*\)\s*\w+|\w+)", re.M)
# What begins a line of a cell without %%, where it is no statement.
DECLARATION = re.compile(r"^(?:func|type|var|const|import|package)\b|^\s*(?://.*)?$")
# Kinds of LSP's completions, as JupyterLab calls them.
KINDS = {2: "method", 3: "function", 5: "field", 6: "variable", 7: "class", 8: "interface", 9: "module", 14: "keyword",
    21: "constant", 22: "class"}
USUAL = {"context", "errors", "filepath", "fmt", "maps", "math", "os", "slices", "sort", "strings", "time"}
SOON = 0.8  # seconds: JupyterLab drops what comes after one
LOADING = 120  # seconds until a gopls that has not read the project is given up


def packages(project):
    """The import path of each package that cells may use, by its name; of several with one name the project's own."""
    found = {}
    goroot = pathlib.Path(subprocess.run(["go", "env", "GOROOT"], stdout=subprocess.PIPE, text=True).stdout.strip())
    for root, module in ((goroot / "src", ""), (project, "nodemask/")):
        for folder, folders, files in os.walk(root):
            folders[:] = [f for f in folders if f[0] not in "._" and f not in ("internal", "testdata", "vendor", "cmd")
                and not os.path.exists(os.path.join(folder, f, "go.mod"))]
            path = os.path.relpath(folder, root)
            if path != "." and any(f.endswith(".go") and not f.endswith("_test.go") for f in files):
                own = module and module + path
                name = os.path.basename(path)
                if own or name not in found or path.count("/") < found[name].count("/"):
                    found[name] = own or path
    return found


class Cell:
    """A cell as a Go file: what stands before %% are declarations, what follows is the body of main."""

    def __init__(self, code):
        lines = code.split("\n")
        main = next((i for i, line in enumerate(lines) if re.match(r"%(%|main\b)", line)), None)
        if main is None and not all(DECLARATION.match(line) for line in lines[:1]):
            main, lines = 0, ["", *lines]
        self.shift = len(lines) - code.count("\n")  # lines above the cell's first, from 0
        self.declarations = "\n".join(lines[:main]) if main is not None else code
        self.names = {n.split(")")[-1].strip() for n in DECLARED.findall(self.declarations)}
        text = [line if line[:1] not in "%!" else "" for line in lines]
        if main is not None:
            text[main] = "func main() {"
            text.append("}")
        self.text = "\n".join(text) + "\n"

    def position(self, code, at):
        """LSP's position of a place in the cell."""
        before = code[:at]
        column = before.rsplit("\n", 1)[-1]
        return {"line": before.count("\n") + self.shift, "character": len(column.encode("utf-16-le")) // 2}


class Gopls:
    """A gopls and the cells that it knows. Its methods may be called from any thread; one at a time is answered."""

    def __init__(self, program, project, folder, notebook=""):
        self.folder, self.project = folder / "cells", project
        self.folder.mkdir()
        self.lock, self.changed = threading.Lock(), threading.Condition()
        self.numbers, self.answers, self.versions = itertools.count(1), {}, collections.Counter()
        self.earlier = []  # cells whose declarations later ones see
        # The import path of each package by its name, and the names that main.go imports.
        self.known, self.imported, self.ready = {}, set(), threading.Event()
        self.process = subprocess.Popen([program, "serve"], cwd=self.folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOWORK": "off"},
            preexec_fn=lambda: os.nice(5))  # cells go first
        threading.Thread(target=self.listen, daemon=True).start()
        threading.Thread(target=self.begin, args=(notebook,), daemon=True).start()

    def begin(self, notebook):
        """Makes the module, and has gopls read what the notebook's cells import before somebody asks."""
        mod = (self.project / "go.mod").read_text()
        mod = re.sub(r"^module nodemask$", f"module cells\n\nrequire nodemask v0.0.0\n\nreplace nodemask => {self.project}",
            mod, flags=re.M)
        (self.folder / "go.mod").write_text(mod)
        (self.folder / "go.sum").write_bytes((self.project / "go.sum").read_bytes())
        self.known = packages(self.project)
        self.ask("initialize", {"processId": os.getpid(), "rootUri": self.uri(""), "capabilities": {"textDocument": {
            "completion": {"completionItem": {"snippetSupport": False}},
            "hover": {"contentFormat": ["markdown"]}}},
            "initializationOptions": {"completeUnimported": False, "matcher": "CaseInsensitive", "hoverKind":
                "FullDocumentation", "linksInHover": False, "diagnosticsTrigger": "Save", "semanticTokens": False,
                "completionBudget": "0s", "analyses": {}, "staticcheck": False, "vulncheck": "Off"}}, LOADING)
        self.send("initialized", {})
        try:
            cells = json.loads(pathlib.Path(notebook).read_text())["cells"]
            code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        except (OSError, ValueError, KeyError, TypeError):
            code = ""
        # A file whose imports change costs a call of the go command: what may be wanted is imported from the start.
        self.imported |= {n for n in self.known if self.known[n].startswith("nodemask/")} | USUAL
        self.imported |= {n for n in QUALIFIER.findall(code) if n in self.known}
        for code in ("%%\nnb.", "%%\ng := nb.Data(name)\ng."):
            self.complete_in(code, len(code), LOADING)
        self.ready.set()

    def uri(self, name):
        return (self.folder / name).as_uri()

    def send(self, method, parameters, **more):
        text = json.dumps({"jsonrpc": "2.0", "method": method, "params": parameters, **more}).encode()
        self.write(text)

    def write(self, text):
        with self.lock:
            try:
                self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
                self.process.stdin.flush()
            except OSError:
                pass  # it has ended: nobody will be answered

    def ask(self, method, parameters, patience):
        """Its answer, or None."""
        number = next(self.numbers)
        self.send(method, parameters, id=number)
        with self.changed:
            self.changed.wait_for(lambda: number in self.answers or self.process.poll() is not None, patience)
            return self.answers.pop(number, None)

    def listen(self):
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                with self.changed:
                    self.changed.notify_all()
                return
            message = json.loads(self.process.stdout.read(length))
            if "method" in message and "id" in message:  # it asks for settings: there are no others
                items = message.get("params") or {}
                result = [None] * len(items["items"]) if "items" in items else None
                self.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode())
            elif "id" in message:
                with self.changed:
                    self.answers[message["id"]] = message.get("result")
                    self.changed.notify_all()

    def show(self, name, text):
        """Tells gopls what a file holds."""
        self.versions[name] += 1
        document = {"uri": self.uri(name), "version": self.versions[name]}
        if self.versions[name] == 1:
            self.send("textDocument/didOpen", {"textDocument": {**document, "languageId": "go", "text": text}})
        else:
            self.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def file(self, code, names=()):
        """A Go file of a cell's text, which imports the packages that the text names, or these, in its first line."""
        own = {(name or path.rsplit("/", 1)[-1]).strip() for name, path in IMPORTED.findall(code)}
        names = names or {n for n in QUALIFIER.findall(code) if n in self.known}
        return "package main" + "".join(f'; import "{self.known[n]}"' for n in sorted(names - own)) + "\n" + code

    def remember(self, code):
        """Lets later cells see the declarations of a cell that has run."""
        cell = Cell(code)
        if cell.names:
            self.earlier = [c for c in self.earlier if not c.names & cell.names] + [cell]

    def at(self, code, position):
        """Tells gopls what a cell holds, and returns the place that a question is about."""
        cell = Cell(code)
        texts = [self.file(c.declarations) for c in self.earlier if not c.names & cell.names]
        for i in range(max(len(texts), sum(name.startswith("earlier") for name in self.versions))):
            self.show(f"earlier{i}.go", texts[i] if i < len(texts) else "package main\n")
        self.imported |= {n for n in QUALIFIER.findall(code) if n in self.known}
        self.show("main.go", self.file(cell.text, self.imported))
        return {"textDocument": {"uri": self.uri("main.go")}, "position": cell.position(code, position)}

    def complete_in(self, code, position, patience):
        begin = position - len(WORD.search(code[:position])[0])
        prefix = code[begin:position].lower()
        answer = self.ask("textDocument/completion", self.at(code, position), patience) or {}
        found = {}
        for item in answer.get("items") or []:
            if item["label"].lower().startswith(prefix) and "." not in item["label"]:
                found.setdefault(item["label"], (KINDS.get(item.get("kind"), ""), item.get("detail", "")))
        if code[begin - 1:begin] != "." and prefix:
            for name in self.known:
                if name.startswith(prefix):
                    found.setdefault(name, ("module", self.known[name]))
        return begin, found

    def complete(self, code, position):
        """The content of a complete_reply."""
        begin, found = (position, {}) if not self.ready.wait(SOON) else self.complete_in(code, position, SOON)
        return {"status": "ok", "matches": list(found), "cursor_start": begin, "cursor_end": position, "metadata": {
            "_jupyter_types_experimental": [{"text": name, "type": kind, "signature": detail, "start": begin,
                "end": position} for name, (kind, detail) in found.items()]}}

    def inspect(self, code, position):
        """The content of an inspect_reply: of the name at the place, else of the function that is called there."""
        text = ""
        if self.ready.wait(SOON):
            place = self.at(code, position)
            on_name = re.search(r"\w$", code[:position]) or re.match(r"\w", code[position:])
            for ask in (self.hover, self.signature) if on_name else (self.signature, self.hover):
                text = text or ask(place)
        return {"status": "ok", "found": bool(text), "metadata": {}, "data": text and {"text/markdown": text,
            "text/plain": re.sub(r"```(?:go)?\n?|\\(?=[^\w\s])", "", text)} or {}}

    def hover(self, place):
        answer = self.ask("textDocument/hover", place, SOON)
        return answer["contents"]["value"] if answer else ""

    def signature(self, place):
        """The function that is called around the place."""
        for s in (self.ask("textDocument/signatureHelp", place, SOON) or {}).get("signatures", [])[:1]:
            doc = s.get("documentation") or ""
            return f"```go\nfunc {s['label']}\n```\n\n{doc['value'] if isinstance(doc, dict) else doc}"
        return ""
