"""Traces of a million events."""

import re
import subprocess

from commands import COMMAND, trace

MILLION = 1_000_000

# Asks for a point query a million times, with a scan now and then, at two lines.
PROGRAM = """
import random, sqlite3
random.seed(7)
database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, size INTEGER)")
database.executemany("INSERT INTO item VALUES(?, ?, ?)", ((row, f"item {row}", row * 7 % 1000) for row in range(20000)))
def look_up():
    database.execute("SELECT name, size FROM item WHERE id = ?", (random.randrange(20000),)).fetchone()
def scan():
    database.execute("SELECT count(*) FROM item WHERE size < ?", (random.randrange(1000),)).fetchone()
for number in range(990000):
    if number % 20000 == 0:
        scan()
    look_up()
"""


def statements(folder):
    """The trace of a program with a million statements."""
    path = folder / "statements.json"
    subprocess.run(
        [COMMAND, "record", "-o", path, "--", "/usr/bin/python3", "-c", PROGRAM], check=True, capture_output=True)
    return path


def operations(folder, count=MILLION):
    """The music library's events over and over again, one run after the other, with numbers of their own."""
    path = folder / "operations.json"
    lines = trace("music-library").read_text().splitlines()
    is_event = [re.search(r'"ph":"[Xbeisf]"', line) is not None and '"args":{"id":' in line for line in lines]
    events = [line for line, keep in zip(lines, is_event) if keep]
    times = [float(re.search(r'"ts":([0-9.]+)', line).group(1)) for line in events]
    length = max(times) - min(times) + 1000
    # A scope has a line for its begin and one for its end.
    once = sum('"ph":"e"' not in line for line in events)
    with open(path, "w") as output:
        for line, keep in zip(lines[:-1], is_event):
            if not keep:
                output.write(line + "\n")
        for run in range(count // once + 1):
            for line, time in zip(events, times):
                shifted = re.sub(r'"ts":[0-9.]+', f'"ts":{time + run * length:.3f}', line, count=1)
                output.write(re.sub(
                    r'"(id|parent|scope|fetch|origin|fault)":(\d{6,})',
                    lambda number: f'"{number.group(1)}":{int(number.group(2)) + run * 1_000_000}', shifted) + "\n")
        output.write("]\n")
    return path
