"""Tests of the page of a model, of two versions, and of a migration."""

import unittest

from browser import Browser
from commands import document, run, scratch_file
from models import attribute, entity, model, versions


def page(*arguments):
    """The path of a new page that a subcommand writes."""
    path = scratch_file("model.html", "")
    run(*arguments, "--format", "html", "-o", path, "--force")
    return path


class ComparisonTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.versions = versions()
        cls.browser = Browser(page("model", "diff", *cls.versions))
        cls.diff = document("model", "diff", *cls.versions)

    @classmethod
    def tearDownClass(cls):
        cls.browser.driver.quit()

    def shapes(self, kind):
        """The names and the classes of the boxes or lines."""
        return self.browser.run(
            "return Object.fromEntries([...document.querySelectorAll(arguments[0])].map((shape) =>"
            " [shape.getAttribute('aria-label') ?? shape.querySelector('title').textContent, shape.getAttribute('class')]))", kind)

    def test_opens_without_complaints(self):
        self.assertEqual(self.browser.value("document.body.dataset.state"), "ready")
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.value("document.images.length"), 0)

    def test_each_entity_is_a_box_with_its_mark(self):
        marks = {label.split(",")[0]: look.split()[1:2] for label, look in self.shapes(".box-shape").items()}
        self.assertEqual(
            {name: mark for name, mark in marks.items() if mark and mark[0] not in ["chosen", "dimmed"]},
            {"Author": ["changed"], "Volume": ["changed"], "Tag": ["removed"], "Reader": ["added"]})
        self.assertIn("Novel", marks)

    def test_lines_connect_what_is_related_and_say_what_changed(self):
        lines = self.shapes(".line-shape")
        self.assertIn("Novel is a Volume", lines)
        self.assertIn("added", lines["Volume.readers → Reader.read, added"])
        self.assertEqual(len([name for name in lines if name.startswith("Author.books")]), 1)

    def test_lists_the_changes_that_the_command_prints(self):
        shown = self.browser.texts("#advice .changes li")
        for difference in self.diff["differences"]:
            text = difference["text"]
            self.assertIn(text[0].upper() + text[1:] + ".", shown)

    def test_an_entity_shows_its_properties_by_click_and_by_key(self):
        self.browser.click("#advice .entities button", 0)
        self.assertEqual(self.browser.texts("#detail h2"), ["Author changed"])
        rows = self.browser.texts("#detail tbody td:first-child")
        self.assertEqual(rows, ["+ biography", "name", "books", "− age"])
        self.assertIn("<img src=x onerror=alert(1)>", self.browser.text("#detail"))
        self.browser.press_enter(".box-shape[aria-label^=Reader]")
        self.assertEqual(self.browser.texts("#detail h2"), ["Reader added"])
        self.assertEqual(self.browser.value("document.querySelectorAll('.box-shape[aria-pressed=true]').length"), 1)
        self.browser.press_enter(".box-shape[aria-label^=Reader]")
        self.assertIn("Select an entity", self.browser.text("#detail"))

    def test_boxes_do_not_overlap_and_can_be_enlarged(self):
        boxes = self.browser.run(
            "return [...document.querySelectorAll('.box-shape rect')].map((box) => box.getBoundingClientRect().toJSON())")
        for index, one in enumerate(boxes):
            for other in boxes[index + 1:]:
                apart = (
                    one["right"] <= other["left"] or other["right"] <= one["left"]
                    or one["bottom"] <= other["top"] or other["bottom"] <= one["top"])
                self.assertTrue(apart, (one, other))
        width = "document.querySelector('svg.diagram').clientWidth"
        before = self.browser.value(width)
        self.browser.click("#larger")
        self.assertGreater(self.browser.value(width), before)
        self.browser.click("#fitting")
        self.assertEqual(self.browser.value(width), before)


class OtherModelTests(unittest.TestCase):
    def test_a_version_alone_has_no_marks(self):
        _, new = versions()
        with Browser(page("model", "show", new)) as browser:
            self.assertEqual(browser.complaints(), [])
            self.assertEqual(browser.texts("#advice .entities button"), ["Author", "Novel", "Reader", "Volume"])
            self.assertEqual(browser.value("document.querySelectorAll('.added, .removed, .changed').length"), 0)
            self.assertEqual(browser.texts("#legend li"), [])

    def test_a_model_without_relationships_and_an_empty_one(self):
        loose = model("Loose", *(entity(f"Entity{number}", attribute("name")) for number in range(12)))
        with Browser(page("model", "show", loose)) as browser:
            self.assertEqual(browser.value("document.querySelectorAll('.box-shape').length"), 12)
        with Browser(page("model", "show", model("Empty"))) as browser:
            self.assertEqual(browser.complaints(), [])
            self.assertEqual(browser.value("document.body.dataset.state"), "ready")

    def test_many_properties_leave_room_for_those_that_changed(self):
        many = [attribute(f"attribute{number:02}") for number in range(40)]
        old, new = model("Old", entity("Item", *many)), model("New", entity("Item", *many, attribute("zone")))
        with Browser(page("model", "diff", old, new)) as browser:
            texts = browser.texts(".box-shape .property")
            self.assertIn("+ zone: String", texts)
            self.assertEqual(texts[-1], "… 28 more")
            self.assertEqual(len(browser.texts("#detail tbody tr")), 41)


if __name__ == "__main__":
    unittest.main()
