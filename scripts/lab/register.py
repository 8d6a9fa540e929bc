"""Registers the kernel "Go (nodemask)" and JupyterLab's settings: register.py LAB PROJECT GO_BIN CGO GOFLAGS.

LAB is the environment. Kernels are registered by absolute paths, so this runs at every set-up: it costs nothing, and
mends a folder that moved.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile


def write(path, value):
    """Writes JSON in one step, and not at all if it is there already."""
    text = json.dumps(value, indent=1) + "\n"
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as f:
        f.write(text)
    os.chmod(f.name, 0o644)
    os.replace(f.name, path)


def mend_scripts(lab, project):
    """Commands in bin/ name their Python by its absolute path, which is another one after the folder has moved."""
    note = lab / "folder"
    before = note.read_text().strip()
    if before == str(project):
        return
    for script in (lab / "bin").iterdir():
        if script.is_symlink() or script.stat().st_size > 100_000:
            continue
        text = script.read_bytes()
        script.write_bytes(text.replace(os.fsencode(before), os.fsencode(project)))
    note.write_text(f"{project}\n")


def environment(lab, project, go_bin, cgo, goflags):
    """What the kernel sets. (An empty value would leave room for what 'go env -w' has set.)"""
    return {
        "PATH": f"{lab}/bin:{go_bin}:${{PATH}}",
        "CGO_ENABLED": cgo,
        "GOFLAGS": goflags,
        # gonb and gopls ask for modules that a cell imports, and for checksums of those that it has. All are there:
        # nobody must be asked, be it a proxy, a checksum database or, for modules that the user calls private, a
        # repository.
        "GOPROXY": "off",
        "GONOPROXY": "none",
        "GOSUMDB": "off",
        "GOVCS": "*:off",
        "GOTOOLCHAIN": "local",
        "GOWORK": "",
        "GOMLX_NO_AUTO_INSTALL": "1",
    }


def register(lab, project, go_bin, cgo, goflags):
    kernel = lab / "share/jupyter/kernels/nodemask"
    with tempfile.TemporaryDirectory() as scratch:
        # gonb logs every start, to the terminal or to files in /tmp. Only what is fatal helps anybody.
        subprocess.run(
            [lab / "bin/gonb", "--install", "--force_deps", f"-go_work={project}", "-raw_error=true",
                "-logtostderr=false",
             "-alsologtostderr=false", "-stderrthreshold=FATAL", "-log_file=/dev/null"],
            env={**os.environ, "JUPYTER_DATA_DIR": scratch},
            check=True,
        )
        made = pathlib.Path(scratch) / "kernels/gonb"
        spec = json.loads((made / "kernel.json").read_text())
        kernel.mkdir(parents=True, exist_ok=True)
        (kernel / "logo-svg.svg").write_bytes((made / "logo-svg.svg").read_bytes())
    # Isolated, so that no module beside a notebook takes the place of one of Python's.
    spec["argv"][:1] = [str(lab / "bin/python"), "-I", str(pathlib.Path(project) / "scripts/lab/kernel.py"),
        str(lab / "bin/gonb")]
    spec["display_name"] = "Go (nodemask)"
    spec["env"] = environment(lab, project, go_bin, cgo, goflags)
    write(kernel / "kernel.json", spec)


def settle(lab):
    """JupyterLab asks nobody for news, updates or extensions, and offers no other kernel."""
    write(lab / "share/jupyter/lab/settings/overrides.json", {
        "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    })
    write(lab / "etc/jupyter/jupyter_config.json", {
        "KernelSpecManager": {"ensure_native_kernel": False, "allowed_kernelspecs": ["nodemask"]},
        "LabApp": {"news_url": None, "check_for_updates_class": "jupyterlab.handlers.announcements.NeverCheckForUpdate",
        "extension_manager": "readonly"},
    })


if __name__ == "__main__":
    lab, project, go_bin, cgo, goflags = sys.argv[1:]
    lab, project = pathlib.Path(lab), pathlib.Path(project)
    mend_scripts(lab, project)
    register(lab, project, go_bin, cgo, goflags)
    settle(lab)
