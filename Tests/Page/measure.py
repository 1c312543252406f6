"""Measures how the page of a million events opens and moves (G28).

    python3 measure.py
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile

from browser import Browser
from commands import COMMAND
from long_traces import operations, statements

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
