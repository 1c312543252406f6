"""Measures how the page of a million events opens and moves (G28).

    python3 measure.py
"""

import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from browser import Browser
from commands import COMMAND, ROOT

EVENTS = 1_000_000
MUSIC = ROOT / "Traces/music-library/trace.json"

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

# Zooms in, pans to and fro, and zooms out again, a step in each frame, and returns the time between the frames.
MOVING = """
const done = arguments[0];
const frames = [];
let step = 0, last = performance.now();
const move = () => {
  const now = performance.now();
  frames.push(now - last);
  last = now;
  step += 1;
  if (step < 20) faultline.timeline.zoom(0.8);
  else if (step < 220) faultline.timeline.pan(step % 80 < 40 ? 0.05 : -0.05);
  else if (step < 250) faultline.timeline.zoom(1.25);
  else return done(frames.slice(1));
  requestAnimationFrame(move);
};
requestAnimationFrame(move);
"""


def statements(folder):
    """The trace of a program with a million statements."""
    path = folder / "statements.json"
    subprocess.run(
        [COMMAND, "record", "-o", path, "--", "/usr/bin/python3", "-c", PROGRAM], check=True, capture_output=True)
    return path


def operations(folder):
    """The music library's events over and over again, one run after the other, with numbers of their own."""
    path = folder / "operations.json"
    lines = MUSIC.read_text().splitlines()
    is_event = [re.search(r'"ph":"[Xbeisf]"', line) is not None and '"args":{"id":' in line for line in lines]
    events = [line for line, keep in zip(lines, is_event) if keep]
    times = [float(re.search(r'"ts":([0-9.]+)', line).group(1)) for line in events]
    length = max(times) - min(times) + 1000
    with open(path, "w") as output:
        for line, keep in zip(lines[:-1], is_event):
            if not keep:
                output.write(line + "\n")
        for run in range(EVENTS // len(events) + 1):
            for line, time in zip(events, times):
                shifted = re.sub(r'"ts":[0-9.]+', f'"ts":{time + run * length:.3f}', line, count=1)
                output.write(re.sub(
                    r'"(id|parent|scope|fetch|origin|fault)":(\d{6,})',
                    lambda number: f'"{number.group(1)}":{int(number.group(2)) + run * 1_000_000}', shifted) + "\n")
        output.write("]\n")
    return path


def measure(name, trace, folder):
    path = folder / "page.html"
    subprocess.run([COMMAND, "report", trace, "--format", "html", "-o", path], check=True, capture_output=True)
    with Browser(path) as browser:
        count = browser.value("faultline.trace.count")
        size = path.stat().st_size / count
        paint = browser.value("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        ready = browser.value("performance.getEntriesByName('events')[0].startTime")
        frames = sorted(browser.driver.execute_async_script(MOVING))
    print(f"{name}: {count:,} events")
    is_met = True
    for what, figure, most, unit in [
        ("file", size, 12, "bytes an event"), ("first paint", paint / 1000, 3, "s"), ("all events shown", ready / 1000, 3, "s"),
        ("frame while moving, median", statistics.median(frames), 17, "ms"),
        ("frame while moving, 95th percentile", frames[int(len(frames) * 0.95)], 34, "ms"),
    ]:
        is_met &= figure <= most
        print(f"  G28  {what:36} {figure:8.2f} {unit} (at most {most}): {'met' if figure <= most else 'missed'}")
    return is_met


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        results = [measure("statements", statements(folder), folder), measure("operations", operations(folder), folder)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
