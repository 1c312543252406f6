"""A real browser for the tests of the page: Chromium, driven by Selenium."""

import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

# How long a page may take to read its events before a test gives up, in seconds.
PATIENCE = 60


class Browser:
    """A headless Chromium that has one page open: a file, or what is at an `http://` address."""

    def __init__(self, path, width=1440, height=900, is_dark=False, arguments=()):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            f"--window-size={width},{height}", *arguments,
        ]:
            options.add_argument(argument)
        if is_dark:
            options.add_argument("--force-dark-mode")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.get(path if str(path).startswith("http://") else f"file://{path}")
        self.wait_for('document.body.dataset.state !== "reading"')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def run(self, script, *arguments):
        """Runs a script on the page, and returns what it returns."""
        return self.driver.execute_script(script, *arguments)

    def value(self, expression):
        """The value of an expression on the page."""
        return self.run(f"return {expression}")

    def wait_for(self, condition):
        """Waits until an expression is true on the page."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.value(condition):
                return
            time.sleep(0.01)
        raise AssertionError(f"The page did not get there within {PATIENCE} s: {condition}")

    def settle(self):
        """Waits until the page has answered the last question, and has drawn it."""
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "const wait = () => document.body.dataset.pending !== '1'"
            " ? requestAnimationFrame(() => requestAnimationFrame(done)) : setTimeout(wait, 5);"
            "setTimeout(wait, 150);")

    def click(self, selector, index=0):
        """Clicks the element of a selector, as a reader does."""
        self.run(f"document.querySelectorAll(arguments[0])[arguments[1]].click()", selector, index)
        self.settle()

    def press(self, key):
        """Presses a key while nothing in particular has the focus."""
        self.run(
            "document.activeElement?.blur?.();"
            "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0], bubbles: true, cancelable: true }))",
            key)
        self.settle()

    def press_enter(self, selector):
        """Gives an element the focus, and presses Enter as a keyboard does."""
        self.run("document.querySelector(arguments[0]).focus()", selector)
        self.driver.switch_to.active_element.send_keys("\ue007")
        self.settle()

    def text(self, selector, index=0):
        """The text of an element."""
        return self.run("return document.querySelectorAll(arguments[0])[arguments[1]].textContent", selector, index)

    def texts(self, selector):
        """The texts of all elements of a selector."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map((found) => found.textContent)", selector)

    def complaints(self):
        """What the browser complained about since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """The addresses that the page has asked the network for, beside itself."""
        import json

        addresses = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                addresses.append(message["params"]["request"]["url"])
        return [address for address in addresses if not address.startswith(("file:///", "blob:", "data:"))]
