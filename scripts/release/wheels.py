"""Makes Python wheels of what run.sh has built: the command, and the source that its notebooks are compiled against.

A wheel is a zip file with a list of its files, so it is written here; equal input gives equal bytes.
"""

import argparse
import base64
import hashlib
import pathlib
import time
import zipfile

HERE = pathlib.Path(__file__).parent
# Go's programs without cgo need no C library at all, and macOS 12, as Go 1.26 does.
TAGS = {
    "linux-amd64": "manylinux_{glibc}_x86_64",
    "linux-arm64": "manylinux_2_17_aarch64.musllinux_1_1_aarch64",
    "darwin-amd64": "macosx_12_0_x86_64",
    "darwin-arm64": "macosx_12_0_arm64",
}
METADATA = """\
Metadata-Version: 2.4
Name: nodemask
Version: {version}
Summary: Node masking for graph neural networks: the command, and notebooks in Go
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD_PARTY.md
Requires-Python: >=3.10
Requires-Dist: numpy
{requires}Description-Content-Type: text/markdown

{description}"""
# XLA's plugin, which the program loads only with the SHA-256 that it knows. It requires JAX, so only who asks gets it.
REQUIRES = 'Provides-Extra: xla\nRequires-Dist: {pin} ; extra == "xla"\n'


def pin(source):
    """The plugin's name and version, as set-up pins them."""
    lines = (source / "scripts/pjrt-cpu.requirements.txt").read_text().splitlines()
    return next(line for line in lines if "==" in line).split()[0]


def write(path, files, date):
    """Writes a zip of files {name: (bytes, executable)}."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, (content, executable) in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(date)[:6])
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            z.writestr(entry, content)


def wheel(target, tag, a):
    source = a.work / f"nodemask-{a.version}-source"
    info = f"nodemask-{a.version}.dist-info"
    requires = REQUIRES.format(pin=pin(source)) if target == "linux-amd64" else ""
    metadata = METADATA.format(version=a.version, requires=requires, description=(HERE / "WHEEL.md").read_text())
    tags = "".join(f"Tag: py3-none-{t}\n" for t in tag.split("."))
    files = {
        "nodemask/__init__.py": ((HERE / "library.py").read_bytes(), False),
        "nodemask/__main__.py": ((HERE / "command.py").read_bytes(), False),
        "nodemask/bin/nodemask": ((a.work / f"nodemask-{a.version}-{target}/bin/nodemask").read_bytes(), True),
        "nodemask/source.tar.gz": ((a.out / f"{source.name}.tar.gz").read_bytes(), False),
        f"{info}/METADATA": (metadata.encode(), False),
        f"{info}/WHEEL": (f"Wheel-Version: 1.0\nGenerator: nodemask\nRoot-Is-Purelib: false\n{tags}".encode(), False),
        f"{info}/entry_points.txt": (b"[console_scripts]\nnodemask = nodemask.__main__:main\n", False),
        f"{info}/licenses/LICENSE": ((source / "LICENSE").read_bytes(), False),
        f"{info}/licenses/THIRD_PARTY.md": ((source / "THIRD_PARTY.md").read_bytes(), False),
    }
    record = f"{info}/RECORD"
    lines = []
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[record] = ("".join([*lines, f"{record},,\n"]).encode(), False)
    write(a.out / f"nodemask-{a.version}-py3-none-{tag}.whl", files, a.date)


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    for name in ("version", "glibc"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--date", type=int, required=True)
    for name in ("work", "out"):
        p.add_argument(f"--{name}", type=pathlib.Path, required=True)
    a = p.parse_args()
    for target, tag in TAGS.items():
        wheel(target, tag.format(glibc=a.glibc.replace(".", "_")), a)
