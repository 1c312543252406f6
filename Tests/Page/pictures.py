"""Makes the pictures of the documentation: pages of the sample traces, as a browser shows them.

    python3 pictures.py FOLDER
"""

import pathlib
import sqlite3
import sys

from browser import Browser
from commands import page, run, scratch_file, trace


def follow_a_finding(browser):
    """Follows the finding about fetches in a loop, and selects one of them."""
    number = browser.run("return faultline.head.data.findings.findIndex(({ finding }) => finding.rule === 'R04')")
    browser.click(".follow", number)
    browser.click("#event-rows .row", 3)
    for _ in range(4):
        browser.run("faultline.timeline.zoom(0.7)")
    browser.run("faultline.timeline.revealRow(faultline.selected)")
    browser.settle()


def store():
    """A store with photos, an index too many, and free space."""
    path = scratch_file("Library.sqlite", "")
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE book(id INTEGER PRIMARY KEY, cover BLOB, title TEXT, author INTEGER, year INTEGER);"
        "CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE INDEX bookTitle ON book(title); CREATE INDEX bookTitleYear ON book(title, year);"
        "CREATE INDEX bookAuthor ON book(author);")
    database.executemany(
        "INSERT INTO book VALUES(?, zeroblob(?), ?, ?, ?)",
        ((row, 9000 + row * 37 % 4000, f"The book of things, volume {row}", row % 60, 1900 + row % 120) for row in range(1200)))
    database.executemany("INSERT INTO author VALUES(?, ?)", ((row, f"Author Number {row}") for row in range(60)))
    database.execute("DELETE FROM book WHERE id % 7 = 0")
    database.commit()
    database.close()
    return path


def main(folder):
    music = page(trace("music-library"))
    diff, inspection = scratch_file("diff.html", ""), scratch_file("store.html", "")
    run("diff", trace("groceries-flawed"), trace("groceries-improved"), "--format", "html", "-o", diff)
    run("inspect", store(), "--format", "html", "-o", inspection)
    for name, path, is_dark, prepare in [
        ("page-light", music, False, follow_a_finding),
        ("page-dark", music, True, follow_a_finding),
        ("flame", music, False, lambda browser: browser.click("#tab-flames")),
        ("diff", diff, False, lambda _: None),
        ("store", inspection, False, lambda _: None),
    ]:
        with Browser(path, width=1440, height=900) as browser:
            if is_dark != browser.value("matchMedia('(prefers-color-scheme: dark)').matches"):
                browser.click("#theme")
            prepare(browser)
            browser.driver.save_screenshot(str(folder / f"{name}.png"))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
