"""The built command, and the pages that it writes for the tests."""

import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("FAULTLINE", str(ROOT / ".build/release/faultline"))
TRACES = ROOT / "Traces"
SCRATCH = tempfile.TemporaryDirectory(prefix="faultline-page-")


def run(*arguments):
    """The output of the command, which must succeed."""
    result = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return result.stdout


def document(*arguments):
    """The JSON that a subcommand prints."""
    return json.loads(run(*arguments, "--format", "json"))


def events(trace, *arguments):
    """The events of a trace that `faultline events` selects."""
    return [json.loads(line) for line in run("events", trace, "--format", "json", *arguments).splitlines()]


def trace(name):
    """The path of a sample trace."""
    folder = TRACES / name
    return folder / "trace.json" if (folder / "trace.json").exists() else folder / "trace"


def page(source, *arguments):
    """The path of a new page of a trace."""
    path = pathlib.Path(SCRATCH.name) / f"{len(os.listdir(SCRATCH.name))}.html"
    run("report", source, "--format", "html", "-o", path, *arguments)
    return path


def scratch_file(name, text):
    """The path of a new file with that text."""
    path = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH.name)) / name
    path.write_text(text)
    return path
