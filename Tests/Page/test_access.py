"""Whether everyone can use the page: the rules of axe-core, which PyPI's axe-playwright-python carries."""

import sqlite3
import unittest

from browser import Browser
from commands import ROOT, page, run, scratch_file, trace
from models import versions

AXE = ROOT / ".build/python-packages/axe_playwright_python/axe.min.js"


class AccessTests(unittest.TestCase):
    def violations(self, browser):
        """The rules that the page breaks as it is now, each with the elements that break it."""
        browser.run(AXE.read_text())
        found = browser.driver.execute_async_script(
            "const done = arguments[0];"
            "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })"
            ".then((result) => done(result.violations.map((rule) => `${rule.id}: ${rule.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`)))")
        return found

    def check(self, is_dark):
        with Browser(page(trace("music-library")), is_dark=is_dark) as browser:
            if is_dark != (browser.value("matchMedia('(prefers-color-scheme: dark)').matches")):
                browser.click("#theme")
            browser.click(".follow", 5)
            browser.click("#event-rows .row", 1)
            for tab in browser.run("return [...document.querySelectorAll('[role=tab]')].map((tab) => tab.id)"):
                browser.click(f"#{tab}")
                self.assertEqual(self.violations(browser), [], tab)
            browser.press("?")
            self.assertEqual(self.violations(browser), [])

    def test_light(self):
        self.check(is_dark=False)

    def test_dark(self):
        self.check(is_dark=True)

    def test_a_trace_without_events_and_a_profile(self):
        lines = trace("groceries-flawed").read_text().splitlines()
        empty = [line for line in lines if '"cat":"' not in line or '"name":"faultline.' in line]
        profile = scratch_file("sum.profile", "")
        run("profile", trace("groceries-flawed"), "-o", profile, "--force")
        for source in [scratch_file("trace.json", "\n".join(empty)), profile]:
            with Browser(page(source)) as browser:
                self.assertEqual(self.violations(browser), [])

    def test_a_narrow_window(self):
        # At this width, a page of 1,280 pixels is enlarged four times.
        with Browser(page(trace("music-library")), width=500, height=800) as browser:
            browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": False})
            browser.settle()
            self.assertLessEqual(browser.value("document.documentElement.scrollWidth"), 320)
            browser.click(".follow")
            self.assertEqual(self.violations(browser), [])

    def test_two_traces(self):
        path = scratch_file("diff.html", "")
        run("diff", trace("groceries-flawed"), trace("groceries-improved"), "--format", "html", "-o", path)
        with Browser(path) as browser:
            for tab in ["operations", "totals", "plans"]:
                browser.click(f"#tab-{tab}")
                self.assertEqual(self.violations(browser), [], tab)

    def test_a_store(self):
        store, path = scratch_file("store.sqlite", ""), scratch_file("store.html", "")
        database = sqlite3.connect(store)
        database.execute("CREATE TABLE note(id INTEGER PRIMARY KEY, photo BLOB)")
        database.execute("INSERT INTO note VALUES(1, zeroblob(90000))")
        database.commit()
        run("inspect", store, "--format", "html", "-o", path)
        with Browser(path) as browser:
            self.assertEqual(self.violations(browser), [])

    def test_two_versions_of_a_model(self):
        path = scratch_file("model.html", "")
        run("model", "diff", *versions(), "--format", "html", "-o", path, "--force")
        for is_dark in [False, True]:
            with Browser(path, is_dark=is_dark) as browser:
                if is_dark != (browser.value("matchMedia('(prefers-color-scheme: dark)').matches")):
                    browser.click("#theme")
                self.assertEqual(self.violations(browser), [])
                browser.click("#advice .entities button", 1)
                self.assertEqual(self.violations(browser), [])

    def test_the_keyboard_reaches_every_control(self):
        with Browser(page(trace("music-library"))) as browser:
            hidden = browser.run(
                "return [...document.querySelectorAll('button, select, input, [role=grid], [role=tab], canvas')]"
                ".filter((found) => found.offsetParent && found.tabIndex < 0 && found.getAttribute('role') !== 'tab')"
                ".map((found) => found.outerHTML.slice(0, 80))")
            self.assertEqual(hidden, [])


if __name__ == "__main__":
    unittest.main()
