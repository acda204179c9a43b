"""How long it takes from a mark to the new list, in the server and in a browser, and to start a second time; on the
sample collection.

    python benchmarks/page.py                  the server alone
    python benchmarks/page.py --browser        and what a person sees, in Chromium

Times of marks in the server are those of the processor, so that other work on the machine counts little, beside the
wall's. The list has 200 results, 20 of them shown: a mark is written to the workspace and flushed, the list ranked anew
and rendered. In the browser a mark is a key that is pressed; it ends with the first paint after the list has moved: the
second of two animation frames, as the first comes before it. `server` is the time until the answer's first byte, told
by the browser, and so with the way there and back.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

MARKS = 30
STARTS = 3


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUERY = "patients study treatment"
WATCH = """() => {
  window.marks = [];
  let began = 0;
  addEventListener("keydown", (event) => { if ("yn".includes(event.key)) began = performance.now(); }, true);
  new MutationObserver(() => {
    if (!began) return;
    const start = began;
    began = 0;
    requestAnimationFrame(() => requestAnimationFrame((now) => {
      const answer = performance.getEntriesByType("resource").filter((one) => one.name.endsWith("/mark")).at(-1);
      window.marks.push({ shown: now - start, server: answer.responseStart - answer.requestStart });
      performance.clearResourceTimings();
    }));
  }).observe(document.getElementById("results"), { childList: true });
}"""


def main() -> None:
    """Print the figures as one line of JSON."""
    parser = argparse.ArgumentParser(description="From a mark on the page to the new list.")
    parser.add_argument("--browser", action="store_true", help="measure in Chromium too")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GERMANE_HOME"] = folder
        first = _start()
        second = [_start() for _ in range(STARTS)]
        marked = _marks(Path(folder))
        if asked.browser:
            marked |= _seen(Path(folder))
    print(json.dumps({"first_start_s": first, "second_start_s": sorted(second), **marked}))


def _start() -> float:
    """Seconds of wall time from `germane serve` to the page."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "germane.cli", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        told = (re.search(r"http://[0-9.:]+/", line) for line in server.stdout)
        address = next(found.group() for found in told if found)
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(address) as answer:
                answer.read()
                break
            time.sleep(0.02)
        taken = time.perf_counter() - began
        server.terminate()
    return round(taken, 2)


def _marks(folder: Path) -> dict[str, object]:
    from starlette.testclient import TestClient

    from germane.server import Settings, create_app
    from germane.server.listing import listing, save_search
    from germane.server.running import open_library
    from germane.server.view_state import ViewState

    library = open_library([], Settings(per_minute=10**6), workspace=folder / "bench.workspace")
    client = TestClient(create_app(library), base_url="http://127.0.0.1")
    client.get("/")
    place = ViewState(q=QUERY)
    kept = save_search(library, place, listing(library, place).rows[0].id)
    place = replace(place, s=kept.id)
    ids = [result.document for result in library.workspace.searches.results(kept)]
    token = client.cookies["germane_csrf"]
    processor, wall = [], []
    for number in range(MARKS):
        fields = {
            "csrf": token,
            "state": place.query_string,
            "id": ids[3 * number],
            "mark": ("relevant", "not_relevant")[number % 2],
        }
        began = time.process_time(), time.perf_counter()
        client.post("/mark", data=fields, headers={"x-fragment": "1"}).raise_for_status()
        processor.append(1000 * (time.process_time() - began[0]))
        wall.append(1000 * (time.perf_counter() - began[1]))
    library.close()
    return {
        "results": len(ids),
        "mark_to_list_ms_processor": round(statistics.median(processor), 1),
        "mark_to_list_ms_wall": round(statistics.median(wall), 1),
    }


def _seen(folder: Path) -> dict[str, object]:
    """Marks by key in a browser: milliseconds until the new list is on screen, and the server's part of it."""
    from playwright.sync_api import sync_playwright

    from germane.server import Settings
    from germane.server.running import address_of, listening, open_library, server_of

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise SystemExit("there is no Chromium: 'make browser' installs one where it may")
    settings = Settings(port=0, per_minute=10**6)
    library = open_library([], settings, workspace=folder / "browser.workspace")
    taken = listening(settings)
    server = server_of(library)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
            page = browser.new_page(base_url=address_of(settings, taken), viewport={"width": 1280, "height": 800})
            page.goto(f"/search?q={QUERY.replace(' ', '+')}")
            page.keyboard.press("j")
            page.keyboard.press("y")  # keeps the search; not counted
            page.wait_for_selector("#interest .words li")
            page.evaluate(WATCH)
            for number in range(MARKS):
                page.keyboard.press("yn"[number % 2])
                while page.evaluate("window.marks.length") <= number:  # the page allows no other way to wait for it
                    page.wait_for_timeout(50)
                page.wait_for_timeout(400)  # what comes after the list, such as groups, and the person's next look
            seen = page.evaluate("window.marks")
            results = page.locator("#count strong").inner_text()
            browser.close()
    finally:
        server.should_exit = True
        thread.join()
    found: dict[str, object] = {"browser_results": int(results)}
    for name in ("shown", "server"):
        values = sorted(each[name] for each in seen)
        found[f"browser_{name}_ms_median"] = round(statistics.median(values), 1)
        found[f"browser_{name}_ms_p95"] = round(values[int(0.95 * (len(values) - 1))], 1)
    return found


if __name__ == "__main__":
    main()
