"""Draws `page-light.png` and `page-dark.png`: the search page over the sample, with marks and a reason in sight.

python docs/images/page.py       needs Playwright and a Chromium, as `make browser` has them
"""

import shutil
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from germane.server.running import address_of, listening, open_library, server_of
from germane.server.settings import Settings

FOLDER = Path(__file__).parent
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1280, "height": 800}


def main() -> None:
    """Both pictures, from a server of its own."""
    path = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        library = open_library([], Settings(port=0), workspace=Path(home) / "page.workspace")
        taken, server = listening(library.settings), server_of(library)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
        thread.start()
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
                page.set_default_timeout(0)
                page.goto(address_of(library.settings, taken) + "search?q=tumour+segmentation")
                for n, keys in ((1, "jjjy"), (2, "jn"), (3, "y")):
                    for key in keys:
                        page.keyboard.press(key)
                    page.locator("#interest", has_text=f"Learned from {n} ").wait_for()
                for key in "kw":
                    page.keyboard.press(key)
                page.wait_for_selector(".why-here")
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=FOLDER / f"page-{scheme}.png")
        finally:
            browser.close()
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    main()
