"""Words errors of cells for people: the line as they wrote it, what is wrong, and what to do."""

import difflib
import re

import gopls

RED, GREY, PLAIN = "\x1b[31m", "\x1b[90m", "\x1b[0m"
COLOUR = re.compile("\x1b\\[[0-9;]*m")
PLACE = re.compile(r"Cell(?:\[(\d+)\]:)? Line (\d+)\n(.*)\n(.*)", re.S)
EXPORTED = re.compile(r"^(?:func|type|var|const)\s+([A-Z]\w*)", re.M)
EXIT = re.compile(r"(exit status \d+|signal: \w+)\s*")
PANIC = re.compile(r"^panic: (.*(?:\n(?!\ngoroutine).*)*)", re.M)
FRAME = re.compile(r"^\s+\S*gonb_\w+/main\.go:(\d+)", re.M)
LAYER = re.compile(r"layer \d+ \(main\.\w+, main\.go:(\d+)\)")


def like(name, names):
    return next(iter(difflib.get_close_matches(name, names, 1, 0.6)), None)


def exported(project, package):
    """What a package of the project exports, by its name."""
    path = gopls.packages(project).get(package, "").removeprefix("nodemask/")
    return [n for f in (project / path).glob("*.go") if path and not f.name.endswith("_test.go")
        for n in EXPORTED.findall(f.read_text())]


def hint(message, code, codes, project):
    """What to do about a compiler's message; None if it says so itself."""
    def has(pattern):
        return re.search(pattern, message)

    if has(r"^expected declaration, found"):
        return "Statements stand after a line %%: put it above them."
    if m := has(r"undefined: (\w+)\.(\w+)"):
        near = like(m[2], exported(project, m[1]))
        return f"Did you mean {m[1]}.{near}?" if near else f"Tab after {m[1]}. shows what it has."
    if m := has(r"undefined: (\w+)$"):
        name = m[1]
        declared = rf"\b{name}\b[\w, ]*:=|\bvar\s+{name}\b|:=.*\brange\b"
        if any(re.search(declared, other) for other in codes.values() if other != code):
            return (f"Variables do not survive their cell: declare {name} here, or return it from a function, "
                "which later cells can call.")
        near = like(name, {n for c in [code, *codes.values()] for n in re.findall(r"\b[A-Za-z]\w+\b", c)} - {name})
        return f"Did you mean {near}?" if near else f"Declare {name} in this cell, or import its package."
    if m := has(r"declared and not used: (\w+)"):
        return f"Go refuses variables that nothing uses: write {m[1]} on the last line to see it, or leave it out."
    if m := has(r"(?:not enough|too many) arguments in call to ([\w.]+)"):
        return f"Shift+Tab between the brackets shows what {m[1]} takes."
    if has(r"assignment mismatch: 1 variable but .* returns 2 values"):
        return "The second is an error: nb.Must1(…) around the call ends the cell if there is one."
    if has(r"\(no value\) used as value"):
        return "The function returns nothing: leave the assignment out."
    if m := has(r"cannot use .* \(.*of type ([\w.]+)\) as ([\w.]+) value"):
        return f"Convert it if that is what you mean: {m[2]}(…)."
    if has(r"imported and not used"):
        return "Leave the import out: imports are found by themselves."
    if m := has(r"(\w+)\.\w+ undefined \(type"):
        return f"Tab after {m[1]}. shows what it has."
    if has(r"is not used$"):
        return "Only the last line of a cell shows itself: print others with fmt.Println."
    return None


def line_of(code, number):
    lines = code.split("\n")
    return lines[number - 1] if 0 < number <= len(lines) else ""


def explain(traceback, said, codes, project, folder):
    """The lines of an error: of the compiler, or of a program that ended with what it said on its standard error."""
    current = codes.get(max(codes, default=0), "")
    if len(traceback) == 1 and (m := EXIT.fullmatch(COLOUR.sub("", traceback[0]))):
        if panic := PANIC.search(said):
            lines = [f"{RED}panic: {panic[1].strip()}{PLAIN}"]
            if number := panicked(said, current, folder):
                lines.insert(0, f"{GREY}line {number}:{PLAIN} {line_of(current, number).strip()}")
            return lines
        return [*(place_of(LAYER.search(said), codes, folder)), f"{GREY}{m[1]}{PLAIN}"]
    lines = []
    for entry in traceback:
        m = PLACE.fullmatch(COLOUR.sub("", entry))
        message = (m[4] if m else COLOUR.sub("", entry)).rstrip()
        if not message:
            continue
        if not m:
            lines.append(f"{RED}{message}{PLAIN}")
            continue
        number, cell = int(m[2]), int(m[1] or 0)
        code = codes.get(cell, current)
        where = f"line {number}" if code == current else f"cell [{cell}], line {number}"
        lines += [f"{GREY}{where}:{PLAIN} {line_of(code, number).strip()}", f"{RED}{message}{PLAIN}"]
        if advice := hint(message, code, codes, project):
            lines.append(f"→ {advice}")
    return lines


def place_of(layer, codes, folder):
    """The cell and line of a line of its program, in a list of at most one."""
    programs = list(folder.glob("gonb_*/main.go"))
    if not layer or not programs:
        return []
    text = line_of(programs[0].read_text(), int(layer[1])).strip()
    for cell in sorted(codes, reverse=True):
        for number, line in enumerate(codes[cell].split("\n"), 1):
            if text and line.strip() == text:
                return [f"{GREY}cell [{cell}], line {number}:{PLAIN} {text}"]
    return []


def panicked(said, code, folder):
    """The line of the cell at which its program panicked; None if it cannot be told."""
    programs = list(folder.glob("gonb_*/main.go"))
    frame = FRAME.search(said)
    if not frame or not programs:
        return None
    text = programs[0].read_text().split("\n")
    main = next((i for i, line in enumerate(code.split("\n")) if line.startswith("%%")), None)
    begin = next((i for i, line in enumerate(text) if line == "\tflag.Parse()"), None)
    if main is None or begin is None or int(frame[1]) <= begin + 1:
        return None
    return int(frame[1]) - begin + main
