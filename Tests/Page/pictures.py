"""Makes the pictures of the documentation: a page of a sample trace and output on a terminal, as a browser shows them."""

import os
import pathlib
import re
import shutil
import subprocess

import terminal
from browser import Browser
from commands import COMMAND, ROOT, page, scratch_file, trace

CATALOG = ROOT / "Sources/Command/faultline/faultline.docc"


def follow_a_finding(browser):
    """Follows the finding about fetches in a loop, and selects one of them."""
    number = browser.run("return faultline.head.data.findings.findIndex(({ finding }) => finding.rule === 'R04')")
    browser.click(".follow", number)
    browser.click("#event-rows .row", 3)
    for _ in range(4):
        browser.run("faultline.timeline.zoom(0.7)")
    browser.run("faultline.timeline.revealRow(faultline.selected)")
    browser.settle()


def commands():
    """The names of the pictures of terminals, each with a command, its first line, and the line after its last.

    The program is recorded last, because that replaces the trace.
    """
    return [
        ("terminal-diff", "faultline diff trace.json after.json", None, "Scopes"),
        ("terminal-check", "faultline check trace.json --budget budget.json --sources Sources", None, None),
        ("terminal-log", "faultline report app.log", "What to", "Hotspots"),
        ("terminal-program", "faultline record -o trace.json -- python3 invoices.py invoices.sqlite", "What to", "Hotspots"),
    ]


def project():
    """A folder with the files that the articles name."""
    folder = scratch_file("budget.json", sample("GettingStartedInABuild", "json")).parent
    for name, source in [("trace", "groceries-flawed"), ("after", "groceries-improved")]:
        shutil.copy(trace(source), folder / f"{name}.json")
    shutil.copy(ROOT / "Tests/Integration/SmallPrograms/python_invoices/flawed.py", folder / "invoices.py")
    shutil.copytree(ROOT / "Sources/Command/FaultlineWorkloads", folder / "Sources")
    program = [pathlib.Path(COMMAND).parent / "MusicProgram", folder / "music.sqlite"]
    subprocess.run([*program, "prepare"], check=True, stdout=subprocess.DEVNULL)
    log = subprocess.run(
        [*program, "naive", "unbounded", "index", "prefetch", "sort"], env={**os.environ, "FAULTLINE_SQLDEBUG": "4"},
        text=True, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    (folder / "app.log").write_text(log.stdout)
    return folder


def sample(article, language):
    """The first sample in a language of an article about getting started."""
    text = (CATALOG / f"GettingStarted/{article}.md").read_text()
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]


def main():
    """Writes the pictures beside the articles that show them, where both DocC and GitHub find them."""
    folder = CATALOG / "GettingStarted"
    files = project()
    with Browser(page(trace("music-library")), width=1440, height=900) as browser:
        follow_a_finding(browser)
        is_dark = browser.value("matchMedia('(prefers-color-scheme: dark)').matches")
        for name in ["page~dark", "page"] if is_dark else ["page", "page~dark"]:
            browser.driver.save_screenshot(str(folder / f"{name}.png"))
            browser.click("#theme")
        browser.driver.set_window_size(1100, 1600)
        for name, command, first, last in commands():
            text = terminal.output([COMMAND, *command.split()[1:]], files)
            text = terminal.excerpt(text, first, last)
            for variant, is_dark in [(name, False), (f"{name}~dark", True)]:
                browser.driver.get(f"file://{scratch_file('page.html', terminal.page(command, text, is_dark))}")
                browser.driver.find_element("id", "terminal").screenshot(str(folder / f"{variant}.png"))


if __name__ == "__main__":
    main()
