"""Tests of the pages of two traces, of a store, and of a trace whose advice was tried."""

import json
import pathlib
import sqlite3
import unittest

from browser import Browser
from commands import document, run, scratch_file, trace


def page(name, *arguments):
    """The path of a new page that a subcommand writes."""
    path = pathlib.Path(scratch_file(name, ""))
    run(*arguments, "--format", "html", "-o", path)
    return path


class DiffTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sides = [trace("groceries-flawed"), trace("groceries-improved")]
        cls.browser = Browser(page("diff.html", "diff", *cls.sides))
        cls.diff = document("diff", *cls.sides)

    @classmethod
    def tearDownClass(cls):
        cls.browser.driver.quit()

    def test_opens_without_complaints_and_without_the_network(self):
        self.assertEqual(self.browser.value("document.body.dataset.state"), "ready")
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [])

    def test_lists_the_operations_that_changed(self):
        changed = [operation for operation in self.diff["operations"] if operation["verdict"] != "same"]
        self.assertEqual(len(self.browser.texts("#panel-operations tbody tr")), len(changed))
        self.assertGreater(len(changed), 3)

    def test_says_which_findings_are_fixed(self):
        gone = [change for change in self.diff["findings"] if change["state"] == "gone"]
        self.assertEqual(self.browser.texts(".state.gone"), ["Fixed"] * len(gone))
        counts = {word: sum(change["state"] == state for change in self.diff["findings"])
                  for state, word in [("new", "New"), ("still", "Still there"), ("gone", "Fixed")]}
        lead = ", ".join(f"{word}: {count}" for word, count in counts.items() if count > 0)
        self.assertEqual(self.browser.text("#advice .lead"), f"{lead}.")
        self.assertEqual(self.browser.texts(".state.still"), ["Still there"] * counts["Still there"])
        self.assertGreater(len(gone), 0)

    def test_shows_the_totals(self):
        self.browser.click("#tab-totals")
        self.assertIn("round trips", self.browser.text("#totals"))

    def test_both_timelines_have_one_scale_and_move_together(self):
        views = self.browser.value("faultline.timelines.map(({ view }) => view.to - view.from)")
        self.assertEqual(views[0], views[1])
        self.browser.press("w")
        self.browser.run("faultline.timelines[1].pan(0.5)")
        offsets = self.browser.value("faultline.timelines.map(({ view, span }) => [view.from - span.from, view.to - view.from])")
        self.assertEqual(*[[round(value) for value in offset] for offset in offsets])
        self.browser.press("0")

    def test_a_drag_pans_where_no_range_can_be_chosen(self):
        self.browser.run("faultline.timelines[0].zoom(0.5)")
        before = self.browser.value("faultline.timelines[0].view.from")
        self.browser.run(
            "const { canvas } = faultline.timelines[0]; const bounds = canvas.getBoundingClientRect();"
            "canvas.setPointerCapture = () => {};"
            "for (const [name, x] of [['pointerdown', 400], ['pointermove', 450], ['pointerup', 450]])"
            "  canvas.dispatchEvent(new PointerEvent(name, { clientX: bounds.left + x, clientY: bounds.top + 40, bubbles: true, pointerId: 1 }));")
        self.browser.settle()
        self.assertLess(self.browser.value("faultline.timelines[0].view.from"), before)
        self.assertEqual(self.browser.value("faultline.timelines[0].range"), None)
        self.browser.press("0")

    def test_the_help_lists_only_keys_with_an_effect(self):
        self.browser.press("?")
        texts = self.browser.texts("#help dd")
        self.browser.click("#help button")
        self.assertIn("Zoom in", texts)
        for text in ["Search", "Show the events of a finding", "Select a time range, which filters the views below"]:
            self.assertNotIn(text, texts)


class InspectionTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = scratch_file("store.sqlite", "")
        database = sqlite3.connect(cls.store)
        database.execute("CREATE TABLE note(id INTEGER PRIMARY KEY, photo BLOB, title TEXT, shelf INTEGER)")
        database.execute("CREATE INDEX byTitle ON note(title)")
        database.execute("CREATE INDEX again ON note(title, shelf)")
        database.executemany(
            "INSERT INTO note VALUES(?, zeroblob(30000), ?, ?)", ((row, f"<b>title {row}</b>", row % 9) for row in range(900)))
        database.commit()
        database.close()
        cls.browser = Browser(page("store.html", "inspect", cls.store))
        cls.inspection = document("inspect", cls.store)

    @classmethod
    def tearDownClass(cls):
        cls.browser.driver.quit()

    def test_opens_without_complaints(self):
        self.assertEqual(self.browser.value("document.body.dataset.state"), "ready")
        self.assertEqual(self.browser.complaints(), [])

    def test_lists_the_findings(self):
        titles = self.browser.texts(".card h3")
        self.assertEqual(len(titles), len(self.inspection["findings"]))
        self.assertGreater(len(titles), 0)

    def test_boxes_are_as_large_as_their_share_of_the_file(self):
        boxes = self.browser.run(
            "return [...document.querySelectorAll('.treemap > .box')].map((box) => {"
            " const { left, right, top, bottom } = box.getBoundingClientRect();"
            " return [box.title.split(':')[0], (right - left) * (bottom - top), left, right, top, bottom]; })")
        areas = {name: area for name, area, *_ in boxes}
        places = {name: place for name, _, *place in boxes}
        for name in ["photo", "again", "byTitle"]:
            left, right, top, bottom = places[f"note, {name}"]
            outer = places["note"]
            self.assertTrue(outer[0] <= left <= right <= outer[1] and outer[2] <= top <= bottom <= outer[3], name)
        sizes = {index["name"]: index["size"] for table in self.inspection["tables"] for index in table["indexes"]}
        self.assertIn("note, photo", areas)
        # The values of the photos fill nearly all of the file.
        self.assertGreater(areas["note, photo"], 0.6 * max(areas.values()))
        ratio = areas["note, again"] / areas["note, byTitle"]
        self.assertLess(abs(ratio / (sizes["again"] / sizes["byTitle"]) - 1), 0.02)

    def test_the_keyboard_names_a_box(self):
        self.browser.run("document.querySelector('.treemap .box').focus()")
        self.assertIn("note", self.browser.text("#treemap .caption"))
        self.browser.driver.switch_to.active_element.send_keys("\ue014")
        self.assertTrue(self.browser.text("#treemap .caption").startswith("note, "))
        self.assertEqual(self.browser.value("document.querySelectorAll('.treemap .box[tabindex=\"0\"]').length"), 1)


class VerificationTests(unittest.TestCase):
    def test_the_cards_state_what_was_measured(self):
        source = trace("groceries-flawed")
        finding = document("report", source)["findings"][1]
        results = {
            "version": 1, "store": "x", "trials": [
                {"finding": finding, "outcome": "confirmed", "text": ["12.3 ms before, 4.10 ms after: saves 8.20 ms."]}],
        }
        path = scratch_file("verification.json", json.dumps(results))
        with Browser(page("report.html", "report", source, "--verification", path)) as browser:
            self.assertEqual(
                browser.texts(".measured"), ["Measured: confirmed12.3 ms before, 4.10 ms after: saves 8.20 ms."])
            self.assertIn("Batch size", browser.text(".card", 1))
            self.assertEqual(browser.run("return document.querySelectorAll('.card')[1].querySelectorAll('.measured').length"), 1)


if __name__ == "__main__":
    unittest.main()
