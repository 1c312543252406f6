"""Tests of the page that `faultline report --format html` writes, in a real browser."""

import collections
import json
import pathlib
import unittest

from browser import Browser
from commands import SCRATCH, TRACES, document, events, page, run, scratch_file, trace
from long_traces import MILLION, operations

# Works for about a second, with a statement now and then.
SAMPLED = """
import sqlite3
database = sqlite3.connect(":memory:")
for number in range(2000):
    database.execute("SELECT ?", (number,)).fetchone()
    sum(range(20000))
"""

# Counts pairs of numbers with a condition for which no rule has advice.
SLOW = """
import sqlite3
database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE number(n)")
database.executemany("INSERT INTO number VALUES (?)", ((number,) for number in range(2000)))
database.execute("SELECT count(*) FROM number AS a, number AS b WHERE a.n + b.n = 7").fetchone()
"""

SAMPLES = sorted(folder.name for folder in TRACES.iterdir() if (folder / "record.sh").exists())


class SampleTests(unittest.TestCase):
    """Each sample trace, compared with what the command prints for it."""

    @classmethod
    def setUpClass(cls):
        cls.browsers = {name: Browser(page(trace(name))) for name in SAMPLES}

    @classmethod
    def tearDownClass(cls):
        for browser in cls.browsers.values():
            browser.driver.quit()

    def each(self, check):
        """Calls a function with the path and the page of each trace."""
        for name, browser in self.browsers.items():
            with self.subTest(trace=name):
                check(trace(name), browser)

    def test_opens_without_complaints_and_without_the_network(self):
        def check(source, browser):
            self.assertEqual(browser.value("document.body.dataset.state"), "ready")
            self.assertEqual(browser.complaints(), [])
            self.assertEqual(browser.requests(), [])

        self.each(check)

    def test_states_what_was_recorded(self):
        def check(source, browser):
            first = run("report", source).splitlines()[0]
            self.assertEqual(f"{browser.text('#title')}: {browser.text('#facts')}", first)
            quality = document("report", source)["quality"]
            limits = [] if quality is None else quality["explanation"]
            self.assertEqual(browser.texts("#limits li"), limits)

        self.each(check)

    def test_has_the_events_of_the_trace(self):
        def check(source, browser):
            expected = collections.Counter(
                event["kind"] for event in events(source) if "id" in event and event.get("phase") != "end")
            shown = browser.run(
                "const counts = {}; const trace = faultline.trace;"
                "for (let row = 0; row < trace.count; row += 1) {"
                "  const kind = trace.kindName(row); counts[kind] = (counts[kind] ?? 0) + 1; }"
                "return counts")
            self.assertEqual(shown, dict(expected))

        self.each(check)

    def test_shows_the_findings_of_the_report(self):
        def check(source, browser):
            findings = document("report", source)["findings"]
            titles = [f"{number}. {finding['title']}." for number, finding in enumerate(findings, 1)]
            self.assertEqual([title.replace('"', "") for title in titles], browser.texts(".card h3"))
            for number, finding in enumerate(findings):
                text = browser.text(".card", number)
                self.assertIn(finding["change"]["text"], text)
                for line in finding["code"]:
                    self.assertIn(line, text)

        self.each(check)

    def test_follows_a_finding_to_its_events(self):
        def check(source, browser):
            for number in range(1, len(document("report", source)["findings"]) + 1):
                expected = len(events(source, "--finding", number))
                browser.click(".follow", number - 1)
                self.assertEqual(browser.value("faultline.rows.length"), expected)
                noun = "event" if expected == 1 else "events"
                self.assertEqual(browser.text("#status"), f"{expected:,} {noun} selected, of finding {number}")
                self.assertEqual(browser.run("return document.querySelectorAll('.card.chosen').length"), 1)
                browser.click(".follow", number - 1)

        self.each(check)

    def test_sums_the_call_tree_as_the_command_does(self):
        def check(source, browser):
            browser.click("#tab-tree")
            for weight in browser.run("return [...document.querySelector('#tree-options select').options].map((o) => o.value)"):
                for inverted, hides in [(False, False), (True, False), (False, True)]:
                    arguments = ["--weight", weight] + ["--bottom-up"] * inverted + ["--hide-system"] * hides
                    expected = flatten(document("tree", source, *arguments)["roots"])
                    browser.run(
                        "faultline.treeOptions.set({ weight: arguments[0], inverted: arguments[1], hidesLibraries: arguments[2] })",
                        weight, inverted, hides)
                    browser.settle()
                    self.assertEqual(shown_tree(browser), expected, arguments)

        self.each(check)


def flatten(nodes, path=()):
    """The paths of a call tree from JSON, with what each weighs in all and itself, in any order."""
    found = []
    for node in nodes:
        here = path + (node["function"],)
        found += [[list(here), node["total"], node["self"]]] + flatten(node["children"], here)
    return sorted(found)


def shown_tree(browser):
    """The same of the call tree that the page shows."""
    found = browser.run(
        "const tree = faultline.tree.tree; const names = faultline.trace.head.functions.map((values) => values[0]);"
        "const paths = [[]]; const found = [];"
        "for (let node = 1; node < tree.parents.length; node += 1) {"
        "  paths[node] = [...paths[tree.parents[node]], names[tree.functions[node]]];"
        "  found.push([paths[node], tree.totals[node], tree.owns[node]]); }"
        "return found")
    return sorted(found)


class ReaderTests(unittest.TestCase):
    """What a reader does with the page of the music library."""

    @classmethod
    def setUpClass(cls):
        cls.source = trace("music-library")
        cls.browser = Browser(page(cls.source))

    @classmethod
    def tearDownClass(cls):
        cls.browser.driver.quit()

    def tearDown(self):
        for _ in range(4):
            self.browser.press("Escape")
        self.browser.press("0")
        self.browser.click("#tab-events")
        self.assertEqual(self.browser.complaints(), [])

    def choose(self, selector, value):
        self.browser.run(
            "const select = document.querySelector(arguments[0]); select.value = arguments[1];"
            "select.dispatchEvent(new Event('change'))", selector, value)
        self.browser.settle()

    def test_filters_by_kind_entity_duration_and_line(self):
        kind = self.browser.value("faultline.trace.kindNumbers.get('fault')")
        self.choose("#filter-kind", kind)
        self.assertEqual(self.browser.value("faultline.rows.length"), len(events(self.source, "--kind", "fault")))
        self.choose("#filter-duration", 10000)
        self.assertEqual(
            self.browser.value("faultline.rows.length"),
            len(events(self.source, "--kind", "fault", "--min-duration", "10us")))
        self.browser.click("#clear")
        sites = self.browser.run("return [...document.querySelector('#filter-site').options].map((o) => [o.value, o.text])")
        value, text = next(site for site in sites if site[1] == "MusicLibrary+Playlists.swift:69")
        self.choose("#filter-site", value)
        self.assertEqual(self.browser.value("faultline.rows.length"), len(events(self.source, "--site", text)))

    def test_searches_labels_and_lines(self):
        self.browser.run(
            "const field = document.getElementById('search'); field.value = 'track.album';"
            "field.dispatchEvent(new Event('input'))")
        self.browser.settle()
        expected = sum(event.get("relationshipName") == "album" for event in events(self.source, "--kind", "fault"))
        self.assertGreater(expected, 0)
        self.assertEqual(self.browser.value("faultline.rows.length"), expected)

    def test_a_search_without_a_result_says_so(self):
        self.browser.run(
            "const field = document.getElementById('search'); field.value = 'no such thing';"
            "field.dispatchEvent(new Event('input'))")
        self.browser.settle()
        self.assertEqual(self.browser.text("#status"), "0 events selected")
        self.assertFalse(self.browser.value("document.querySelector('#panel-events .empty').hidden"))

    def test_sorts_by_a_column_in_both_directions(self):
        self.browser.click("#panel-events [role=columnheader] button", 1)
        durations = sorted((event["duration"] or 0 for event in self.rows_of_the_page()), reverse=True)
        shown = self.browser.value("[...faultline.list.rows].map((row) => faultline.trace.duration[row])")
        self.assertEqual(shown, durations)
        self.browser.click("#panel-events [role=columnheader] button", 1)
        shown = self.browser.value("[...faultline.list.rows].map((row) => faultline.trace.duration[row])")
        self.assertEqual(shown, durations[::-1])
        self.assertEqual(self.browser.value("document.querySelectorAll('#panel-events [aria-sort=ascending]').length"), 1)
        self.browser.click("#panel-events [role=columnheader] button", 0)

    def rows_of_the_page(self):
        """The events of the trace, a scope as its end, which has the duration."""
        return [event for event in events(self.source) if "id" in event and event.get("phase") != "begin"]

    def test_a_click_on_a_slice_selects_its_row(self):
        self.browser.click("#tab-events")
        row = self.browser.run(
            "const { trace } = faultline; let longest = 0;"
            "for (let row = 0; row < trace.count; row += 1)"
            "  if (trace.kindName(row) === 'fetch' && trace.duration[row] > trace.duration[longest]) longest = row;"
            "faultline.timeline.reveal(trace.start[longest], trace.end(longest)); return longest")
        self.browser.settle()
        self.browser.run(
            "const { timeline } = faultline; const canvas = timeline.canvas; const bounds = canvas.getBoundingClientRect();"
            "const place = timeline.placeOf(arguments[0]);"
            "const point = { clientX: bounds.left + bounds.width / 2 + 56, clientY: bounds.top + place.y + 8, bubbles: true, pointerId: 1, button: 0 };"
            "canvas.setPointerCapture = () => {};"
            "canvas.dispatchEvent(new PointerEvent('pointerdown', point));"
            "canvas.dispatchEvent(new PointerEvent('pointerup', point));", row)
        self.browser.settle()
        self.assertEqual(self.browser.value("faultline.selected"), row)
        self.assertEqual(self.browser.run("return document.querySelectorAll('#event-rows .row.active').length"), 1)
        self.assertIn("fetch", self.browser.text("#detail h2"))

    def test_a_row_of_the_list_shows_its_detail_and_its_cause(self):
        position = next(number for number, finding in enumerate(document("report", self.source)["findings"]) if finding["rule"] == "R01")
        self.browser.click(".follow", position)
        self.browser.click("#event-rows .row", 1)
        detail = self.browser.text("#detail")
        for word in ["Where the time went", "Cause", "Stack", "Recorded"]:
            self.assertIn(word, detail)
        self.browser.press("c")
        self.assertIn("fetch", self.browser.text("#detail h2"))

    def test_source_is_shown_at_the_frame(self):
        text = self.browser.text(".card pre.code .line.here", 0)
        self.assertTrue(any(word in text for word in ["fetch", "predicate", "request"]), text)
        with Browser(page(self.source, "--no-source")) as other:
            self.assertEqual(other.value("document.querySelectorAll('.line.here').length"), 0)
            self.assertEqual(other.value("faultline.trace.head.sources"), None)

    def test_the_keyboard_zooms_and_pans(self):
        whole = self.browser.value("faultline.timeline.view")
        self.browser.press("w")
        zoomed = self.browser.value("faultline.timeline.view")
        self.assertAlmostEqual((zoomed["to"] - zoomed["from"]) / (whole["to"] - whole["from"]), 0.7, 3)
        self.browser.press("d")
        panned = self.browser.value("faultline.timeline.view")
        self.assertGreater(panned["from"], zoomed["from"])
        for _ in range(60):
            self.browser.run("faultline.timeline.zoom(0.7)")
        closest = self.browser.value("faultline.timeline.view")
        self.assertLess(closest["to"] - closest["from"], 1001)
        self.browser.press("0")
        self.assertEqual(self.browser.value("faultline.timeline.view"), whole)

    def test_a_range_filters_everything_below(self):
        span = self.browser.value("faultline.timeline.span")
        middle = (span["from"] + span["to"]) / 2
        self.browser.run("return faultline.choose({ from: arguments[0], to: arguments[1] })", middle, span["to"])
        self.browser.settle()
        starts = self.browser.value("[...faultline.rows].map((row) => faultline.trace.end(row))")
        self.assertGreater(len(starts), 0)
        self.assertGreaterEqual(min(starts), middle)
        self.assertLess(len(starts), self.browser.value("faultline.trace.count"))

    def test_comma_and_full_stop_go_through_a_track(self):
        self.browser.press(".")
        first = self.browser.value("faultline.selected")
        self.browser.press(".")
        second = self.browser.value("faultline.selected")
        self.assertGreater(second, first)
        self.assertEqual(self.browser.value("faultline.trace.kindName(faultline.selected)"),
                         self.browser.run("return faultline.trace.kindName(arguments[0])", first))
        self.browser.press(",")
        self.assertEqual(self.browser.value("faultline.selected"), first)

    def test_the_hotspots_are_those_of_the_selected_events(self):
        self.browser.click("#tab-hotspots")
        rows = "[...document.querySelectorAll('#panel-hotspots tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))"
        # The browser's sums for all events are those of the report.
        groups = [group for group in document("report", self.source)["groups"] if group["kind"] not in ("sql", "cacheMiss")]
        remarks = {"rowCache": "fault (cached)", "gone": "fault (gone)"}
        expected = collections.Counter(
            (remarks.get(group.get("source"), group["kind"]), f"{group['durations']['count'] + group.get('untimed', 0):,}",
             f"{group['counts']['rows']:,}", (group.get("site") or {"text": "–"})["text"]) for group in groups)
        shown = self.browser.value(rows)
        self.assertEqual(collections.Counter((row[1], row[3], row[6], row[8]) for row in shown), expected)
        totals = self.browser.run("return faultline.assistant.ask('hotspots', { number: 0 })")
        self.assertEqual(sum(group["total"] for group in totals), sum(group["durations"]["total"] for group in groups))
        number = self.browser.value("faultline.trace.kindNumbers.get('batch')")
        self.browser.run("return faultline.filter({ kinds: [arguments[0]] })", number)
        self.browser.settle()
        chosen = self.browser.value(rows)
        self.assertEqual({row[1] for row in chosen}, {"batch"})
        self.assertEqual(sum(int(row[3].replace(",", "")) for row in chosen), len(events(self.source, "--kind", "batch")))
        # A hotspot leads to its events.
        self.browser.click("#panel-hotspots .link")
        self.assertEqual(f"{self.browser.value('faultline.rows.length'):,}", chosen[0][3])
        self.assertIn(f"batch {chosen[0][2]}", self.browser.text("#status"))

    def test_lists_what_a_scope_contains(self):
        row = self.browser.run(
            "const { trace } = faultline;"
            "for (let row = 0; row < trace.count; row += 1)"
            "  if (trace.kindName(row) === 'scope') { faultline.go(row); return row; }")
        self.browser.settle()
        name = self.browser.run("return faultline.trace.labelText(arguments[0])", row)
        self.browser.click("#detail .inside")
        inside = self.browser.run(
            "const within = (row) => row === arguments[0] || (row >= 0 && (within(faultline.trace.scope[row]) || within(faultline.trace.cause[row])));"
            "return [...faultline.rows].filter((row) => !within(row)).length", row)
        self.assertEqual(inside, 0)
        self.assertIn(f"within scope {name}", self.browser.text("#status"))
        self.assertGreater(self.browser.value("faultline.rows.length"), 1)
        self.assertLess(self.browser.value("faultline.rows.length"), self.browser.value("faultline.trace.count"))

    def test_searches_for_all_words_of_what_the_list_shows(self):
        expected = self.browser.value(
            "[...Array(faultline.trace.count).keys()].filter((row) => faultline.trace.kindName(row) === 'fetch'"
            " && faultline.trace.labelText(row).includes('Playlist')).length")
        self.browser.run("return faultline.filter({ text: 'playlist FETCH main' })")
        self.assertGreater(expected, 0)
        self.assertEqual(self.browser.value("faultline.rows.length"), expected)

    def test_a_selected_event_is_marked_even_if_it_is_too_short_to_be_seen(self):
        self.browser.run(
            "const { trace } = faultline;"
            "for (let row = 0; row < trace.count; row += 1)"
            "  if (trace.kindName(row) === 'fault' && trace.duration[row] < 1000) return faultline.go(row);")
        self.browser.settle()
        view, span = self.browser.value("[faultline.timeline.view, faultline.timeline.span]")
        # Rows that were visible stay visible.
        self.assertEqual(view, span)
        picture = "document.querySelector('canvas.tracks').toDataURL()"
        marked = self.browser.value(picture)
        self.browser.press("Escape")
        self.assertNotEqual(self.browser.value(picture), marked)

    def test_letters_act_on_the_timeline_while_a_checkbox_has_the_focus(self):
        self.browser.click("#tab-tree")
        self.browser.press_enter("#tab-tree")
        self.browser.run("document.querySelector('#tree-options input').focus()")
        before = self.browser.value("faultline.timeline.view.to - faultline.timeline.view.from")
        self.browser.driver.switch_to.active_element.send_keys("w")
        self.browser.settle()
        self.assertLess(self.browser.value("faultline.timeline.view.to - faultline.timeline.view.from"), before)

    def test_assistive_technology_hears_what_is_open_and_pressed(self):
        self.browser.click("#tab-tree")
        states = self.browser.value(
            "[...new Set([...document.querySelectorAll('#tree-rows [aria-expanded]')].map((row) => row.getAttribute('aria-expanded')))]")
        self.assertEqual(set(states), {"true", "false"})
        self.assertEqual(self.browser.value("document.querySelector('.follow').getAttribute('aria-pressed')"), "false")
        self.browser.click(".follow")
        self.assertEqual(self.browser.value("document.querySelector('.follow').getAttribute('aria-pressed')"), "true")

    def test_the_flame_graph_focuses_on_a_function(self):
        self.browser.click("#tab-flames")
        caption = self.browser.text("#flames .caption")
        self.assertTrue(caption.startswith("All: "), caption)
        self.browser.run("faultline.flames.focus(5)")
        self.browser.settle()
        name = self.browser.value("faultline.trace.head.functions[faultline.tree.tree.functions[5]][0]")
        self.assertTrue(self.browser.text("#flames .caption").startswith(name + ": "))

    def test_escape_in_the_search_gives_up_the_search_alone(self):
        self.browser.run(
            "const field = document.getElementById('search'); field.focus(); field.value = 'track';"
            "field.dispatchEvent(new Event('input'))")
        self.browser.settle()
        self.browser.run("faultline.choose({ from: faultline.timeline.span.from, to: faultline.timeline.span.to - 1000 })")
        self.browser.settle()
        self.browser.run(
            "document.getElementById('search').dispatchEvent("
            "new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }))")
        self.browser.settle()
        self.assertEqual(self.browser.value("[faultline.selection.text, document.getElementById('search').value]"), ["", ""])
        self.assertNotEqual(self.browser.value("faultline.timeline.range"), None)

    def test_a_finding_shows_all_its_events_whatever_was_selected_before(self):
        kind = self.browser.value("faultline.trace.kindNumbers.get('use')")
        self.choose("#filter-kind", kind)
        self.browser.click(".follow", 0)
        self.assertEqual(self.browser.value("faultline.rows.length"), len(events(self.source, "--finding", "1")))

    def test_a_line_has_all_its_events_however_the_trace_names_its_file(self):
        options = self.browser.run("return [...document.querySelector('#filter-site').options].slice(1).map((o) => [o.value, o.text])")
        texts = [text for _, text in options]
        self.assertEqual(len(texts), len(set(texts)))
        value, text = next(option for option in options if option[1] == "MusicLibrary+Search.swift:43")
        self.choose("#filter-site", value)
        self.assertEqual(self.browser.value("faultline.rows.length"), len(events(self.source, "--site", text)))
        self.assertEqual(self.browser.value("document.querySelector('#filter-site').value"), value)

    def test_arrows_scroll_where_there_is_something_to_scroll(self):
        before = self.browser.value("faultline.timeline.view")
        self.browser.run(
            "document.getElementById('advice').focus(); document.getElementById('advice').dispatchEvent("
            "new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true, cancelable: true }))")
        self.browser.settle()
        self.assertEqual(self.browser.value("faultline.timeline.view"), before)

    def test_the_charts_say_what_they_draw(self):
        self.browser.click("#tab-charts")
        labels = self.browser.run("return [...document.querySelectorAll('#panel-charts svg')].map((chart) => chart.getAttribute('aria-label'))")
        self.assertTrue(labels[0].startswith("Events by duration: "), labels)
        growing = [result for result in document("report", self.source)["results"] if result["growth"]]
        drawn = [label for label in labels if label.startswith("The time of one fetch of ")]
        self.assertEqual(len(drawn), min(4, len(growing)))
        self.assertGreater(len(drawn), 0)
        counted = sum(event["duration"] > 0 for event in self.rows_of_the_page())
        bars = self.browser.run("return [...document.querySelectorAll('#panel-charts .bar title')].map((bar) => Number(bar.textContent.split(': ')[1].replace(/,/g, '')))")
        self.assertEqual(sum(bars), counted)

    def test_a_link_to_a_cause_keeps_the_focus_and_announces_the_event(self):
        row = self.browser.run(
            "const { trace } = faultline;"
            "for (let row = 0; row < trace.count; row += 1)"
            "  if (trace.kindName(row) === 'batch') { faultline.go(row); return row; }")
        self.browser.settle()
        self.browser.run("document.querySelector('#detail .link').focus()")
        self.browser.click("#detail .link")
        cause = self.browser.run("return faultline.trace.cause[arguments[0]]", row)
        self.assertEqual(self.browser.value("faultline.selected"), cause)
        self.assertEqual(self.browser.value("document.activeElement.id"), "detail")
        announced = self.browser.text("#announcement")
        self.assertTrue(announced.startswith("fetch, "), announced)
        view = self.browser.value("faultline.timeline.view")
        self.assertLess(view["from"], self.browser.run("return faultline.trace.end(arguments[0])", cause))

    def test_sorts_kinds_by_name(self):
        self.browser.click("#panel-events [role=columnheader] button", 2)
        kinds = self.browser.value("[...faultline.list.rows].map((row) => faultline.trace.kindName(row))")
        self.browser.click("#panel-events [role=columnheader] button", 0)
        self.assertEqual(kinds, sorted(kinds, key=str.lower))
        self.assertGreater(len(set(kinds)), 3)

    def test_the_help_lists_the_keys(self):
        self.browser.press("?")
        self.assertTrue(self.browser.value("document.getElementById('help').open"))
        self.assertIn("Zoom in", self.browser.text("#help"))
        self.browser.click("#help button")
        self.assertFalse(self.browser.value("document.getElementById('help').open"))


class UnusualTraceTests(unittest.TestCase):
    """Traces that are empty, incomplete, hostile or too long."""

    def lines(self, name="groceries-flawed"):
        return trace(name).read_text().splitlines()

    def test_an_empty_trace(self):
        kept = [line for line in self.lines() if '"cat":"' not in line or '"name":"faultline.' in line]
        with Browser(page(scratch_file("trace.json", "\n".join(kept)))) as browser:
            self.assertEqual(browser.value("document.body.dataset.state"), "ready")
            self.assertEqual(browser.text("#timeline .empty"), "The trace has no events.")
            for part in ["#filters", "#panes", "#detail"]:
                self.assertTrue(browser.value(f"document.querySelector('{part}').hidden"), part)
            browser.press("?")
            self.assertEqual(browser.texts("#help dt"), ["?"])
            self.assertEqual(browser.complaints(), [])

    def test_a_profile_has_findings_but_no_events(self):
        path = scratch_file("p.profile", "")
        run("profile", trace("groceries-flawed"), "-o", path, "--force")
        with Browser(page(path)) as browser:
            self.assertEqual(len(browser.texts(".card")), len(document("report", path)["findings"]))
            self.assertEqual(browser.text("#timeline .empty"), "A profile has no single events, so there is no timeline.")
            self.assertEqual(browser.texts(".follow"), [])
            self.assertEqual(browser.texts("[role=tab]"), ["Hotspots", "Rules"])
            self.assertGreater(len(browser.texts("#panel-hotspots tbody tr")), 0)
            browser.press("1")
            browser.run("document.querySelector('#tab-hotspots').focus()")
            for key in ["\ue012", "\ue011", "\ue014"]:
                browser.driver.switch_to.active_element.send_keys(key)
            self.assertEqual(browser.value("document.activeElement.id"), "tab-rules")
            self.assertFalse(browser.value("document.querySelector('#panel-rules').hidden"))
            self.assertEqual(browser.complaints(), [])

    def test_events_of_set_up_support_no_finding(self):
        lines = [line.replace('"kind":"screen"', '"kind":"setup"') if '"cat":"scope"' in line else line for line in self.lines()]
        self.assertNotEqual(lines, self.lines())
        source = scratch_file("trace.json", "\n".join(lines))
        count = len(document("report", source)["findings"])
        self.assertGreater(count, 0)
        with Browser(page(source)) as browser:
            for number in range(1, count + 1):
                setup = browser.value(
                    f"[...Array(faultline.trace.count).keys()].filter((row) => Math.floor(faultline.trace.findings[row] / 2 ** {number - 1}) % 2"
                    " && faultline.trace.scope[row] >= 0 && faultline.trace.word(faultline.trace.scope[row], 'kind') === 'setup').length")
                self.assertEqual(setup, 0, number)
                browser.click(".follow", number - 1)
                self.assertEqual(browser.value("faultline.rows.length"), len(events(source, "--finding", number)))

    def test_work_that_no_finding_explains_is_listed(self):
        source = scratch_file("slow.json", "")
        source.unlink()
        run("record", "--quiet", "-o", source, "--", "/usr/bin/python3", "-c", SLOW)
        works = document("report", source)["unexplained"]
        self.assertEqual([work["group"]["kind"] for work in works], ["sql"])
        with Browser(page(source)) as browser:
            self.assertEqual(browser.texts(".unexplained h3"), [works[0]["group"]["subject"]])
            text = browser.text(".unexplained")
            for sentence in works[0]["explanation"]:
                self.assertIn(sentence, text)
            self.assertEqual(browser.complaints(), [])

    def test_samples_are_kept_and_their_weights_are_those_of_all(self):
        source = scratch_file("sampled.json", "")
        source.unlink()
        run("record", "--quiet", "--cpu", "-o", source, "--", "/usr/bin/python3", "-c", SAMPLED)
        with Browser(page(source)) as whole, Browser(page(source, "--max-events", 200)) as part:
            weights = []
            for browser in [whole, part]:
                browser.click("#tab-tree")
                weights.append(browser.value("faultline.tree.tree.total"))
                self.assertEqual(browser.value("faultline.treeOptions.options.weight"), "cpu")
            self.assertGreater(weights[0], 0)
            # Samples do not weigh exactly the same.
            self.assertLess(abs(weights[1] - weights[0]) / weights[0], 0.2)
            self.assertGreater(part.value("faultline.head.data.omitted.kinds.sql"), 0)
            # Where only some of the samples fit, the page says so, and scales them up.
            with Browser(page(source, "--max-events", 40)) as least:
                least.click("#tab-tree")
                self.assertGreater(least.value("faultline.head.data.omitted.kinds.cpu"), 0)
                self.assertIn("such as samples", least.texts("#limits li")[-1])
                self.assertLess(abs(least.value("faultline.tree.tree.total") - weights[0]) / weights[0], 0.2)
            self.assertIn("CPU", part.value("faultline.timeline.processes[0].tracks.map(({ name }) => name)"))

    def test_losses_come_first(self):
        lines = self.lines()
        last = lines.index(next(line for line in lines if '"name":"faultline.ended"' in line))
        lines[last] = lines[last].replace('"lost":0', '"lost":123')
        with Browser(page(scratch_file("trace.json", "\n".join(lines)))) as browser:
            self.assertIn("123 lost", browser.text("#facts"))
            self.assertIn("lost", browser.text("#limits"))

    def test_hostile_names_are_shown_and_never_run(self):
        attack = "</script><script>document.title='run'</script><img src=x onerror=document.title='run'>"
        text = trace("groceries-flawed").read_text()
        hostile = text.replace("locationAtHome", json.dumps(attack)[1:-1]).replace("Groceries.swift", json.dumps(attack)[1:-1] + ".swift")
        with Browser(page(scratch_file("trace.json", hostile))) as browser:
            self.assertEqual(browser.value("document.body.dataset.state"), "ready")
            for tab in browser.run("return [...document.querySelectorAll('[role=tab]')].map((tab) => tab.id)"):
                browser.click(f"#{tab}")
            browser.click("#tab-events")
            for row in range(8):
                browser.click("#event-rows .row", row)
            self.assertNotEqual(browser.value("document.title"), "run")
            self.assertIn("</script>", browser.text("#advice"))
            self.assertEqual(browser.value("document.images.length"), 0)
            self.assertEqual(browser.complaints(), [])
            self.assertEqual(browser.requests(), [])

    def test_the_policy_refuses_what_the_page_does_not_contain(self):
        with Browser(page(trace("groceries-flawed"))) as browser:
            browser.run(
                "globalThis.refused = [];"
                "document.addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));"
                "const add = (name, change) => { const added = document.createElement(name); change(added); document.body.append(added); return added; };"
                "add('script', (script) => { script.textContent = 'globalThis.hasRun = true'; });"
                "add('div', (div) => { div.setAttribute('onclick', 'globalThis.hasRun = true'); }).click();"
                "add('img', (image) => { image.src = 'http://127.0.0.1:9/picture.png'; });"
                "fetch('http://127.0.0.1:9/').catch(() => {});")
            browser.wait_for("refused.length >= 4")
            self.assertEqual(browser.value("globalThis.hasRun ?? false"), False)
            self.assertEqual(set(browser.value("refused")), {"script-src-elem", "script-src-attr", "img-src", "connect-src"})

    def test_a_kind_that_is_only_summed_has_its_track(self):
        with Browser(page(trace("groceries-flawed"), "--max-events", 3)) as browser:
            self.assertEqual(browser.value("faultline.trace.count"), 3)
            shown = browser.value("Object.keys(faultline.trace.kindCounts).filter((kind) => faultline.trace.kindCounts[kind] > 0).length")
            tracks = browser.value("faultline.timeline.processes[0].tracks.map(({ name }) => name)")
            self.assertLess(shown, 4)
            for name in ["Fetches", "Batches", "Faults", "SQL"]:
                self.assertIn(name, tracks)
            self.assertEqual(browser.complaints(), [])

    def test_a_million_events_can_be_read_and_filtered(self):
        source = operations(pathlib.Path(SCRATCH.name), MILLION)
        with Browser(page(source)) as browser:
            self.assertGreaterEqual(browser.value("faultline.trace.count"), MILLION)
            browser.run("faultline.timeline.zoom(0.001)")
            kind = browser.value("faultline.trace.kindNumbers.get('save')")
            browser.run("return faultline.filter({ kinds: [arguments[0]] })", kind)
            browser.settle()
            self.assertEqual(
                browser.value("faultline.rows.length"), browser.run("return faultline.trace.kindCounts[arguments[0]]", kind))
            self.assertLess(browser.run("return document.querySelectorAll('#event-rows .row').length"), 100)
            browser.click("#tab-flames")
            self.assertEqual(browser.complaints(), [])

    def test_a_longer_trace_says_what_it_sums(self):
        with Browser(page(trace("music-library"), "--max-events", 1000)) as browser:
            self.assertEqual(browser.value("faultline.trace.count"), 1000)
            note = browser.texts("#limits li")[-1]
            self.assertTrue(note.startswith("The page shows 1,000 of 9,830 events one by one: the longest, and a share"), note)
            shown = browser.value(
                "Math.min(...[...faultline.trace.duration].filter((time, row) =>"
                " !faultline.trace.kinds.get(faultline.trace.kind[row]).isInstant))")
            longest = browser.value("faultline.head.data.omitted.longest")
            self.assertGreaterEqual(shown, longest)
            self.assertEqual(browser.complaints(), [])


if __name__ == "__main__":
    unittest.main()
