"""The page in a browser: every view by keyboard and mouse, with screenshots, without a message in the console.

Screenshots lie in `artefacts/page/`, to be looked at. The browser is Debian's `chromium` or another Chromium that is
found by its name; `make browser` installs it where it may.
"""

import base64
import os
import re
import shutil
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from germane.engine import Engine
from germane.server import Library, Settings, topics
from germane.server.histories import history
from germane.server.measuring import Evaluations, Handed
from germane.server.running import address_of, listening, server_of
from germane.types import Document
from germane.workspace import Workspace
from server.planted import planted_clicks, planted_qrels, planted_run

ARTEFACTS = Path(__file__).parents[2] / "artefacts" / "page"
SIZES = ((1280, 800), (390, 844))
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
STATIC = Path(__file__).parents[2] / "src" / "germane" / "server" / "static"
PATIENCE = 600_000
"""Milliseconds: what is waited for comes, however busy the machine is; a first search may compile."""
SLOWED, LATE = 6, 1.0
"""How many times slower the processor of a slow browser is, and by how many seconds its scripts are late."""
BOTH = pytest.mark.parametrize("page", ["quick", "slow"], indirect=True)
"""A test that holds on a slow machine too, over a slow line."""
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        message = "there is no Chromium to test the page in: 'make browser' installs one where it may"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"], timeout=PATIENCE
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def library(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A copy of the sample, whose page was clicked on."""
    home = tmp_path_factory.mktemp("page")
    shutil.copytree(sample, home / "research")
    settings = Settings(port=0, per_minute=100_000)
    engine = Engine.open(home / "research")
    (home / "clicks.jsonl").write_bytes(planted_clicks(engine))
    return Library({"research": engine}, Workspace.open(home / "my.workspace"), settings, home)


@pytest.fixture(scope="module")
def address(library: Library) -> Iterator[str]:
    """A running server, which closes the library when it ends."""
    with _serving(library, _late_scripts) as at:
        yield at


@contextmanager
def _serving(library: Library, wrap: Callable[..., Any] = lambda app: app) -> Iterator[str]:
    """The address of a server of the library. It listens once it has started, which is waited for."""
    taken = listening(library.settings)
    server = server_of(library)
    server.config.app = wrap(server.config.app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield address_of(library.settings, taken).rstrip("/")
    finally:
        server.should_exit = True
        thread.join()


def _late_scripts(app: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """The application, whose scripts come late where a browser asks for it."""

    async def late(scope, receive, send) -> None:
        if str(scope.get("path")).endswith(".js") and (b"x-late", b"1") in scope["headers"]:
            await anyio.sleep(LATE)
        await app(scope, receive, send)

    return late


@pytest.fixture
def context(chromium: Browser, address: str) -> Iterator[BrowserContext]:
    made = chromium.new_context(base_url=address, viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page that must not say anything in its console, in a quick browser or a slow one."""
    opened = context.new_page()
    if getattr(request, "param", "quick") == "slow":
        context.set_extra_http_headers({"x-late": "1"})
        developer = context.new_cdp_session(opened)
        developer.send("Network.setCacheDisabled", {"cacheDisabled": True})
        developer.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
    said: list[str] = []
    opened.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    opened.on("pageerror", lambda error: said.append(str(error)))
    yield opened
    assert said == []


def ids(page: Page) -> list[str]:
    return page.locator(".list > .row").evaluate_all("rows => rows.map(row => row.dataset.id)")


def settled(page: Page) -> None:
    page.wait_for_load_state("networkidle")


# -- search ------------------------------------------------------------------------------------------------------------


@BOTH
def test_a_walk_with_the_keyboard_alone(page: Page) -> None:
    page.goto("/")
    page.keyboard.type("sleep memory")
    page.keyboard.press("Enter")
    expect(page.locator(".row")).to_have_count(20)
    first = ids(page)
    for key in "jjj":
        page.keyboard.press(key)
    expect(page.locator(".row.current")).to_have_attribute("data-id", first[2])
    page.keyboard.press("y")
    expect(page.locator(".row").first).to_have_attribute("data-id", first[2])
    expect(page.locator(".row").first).to_have_class(re.compile("yes"))
    expect(page.locator(".moved").first).to_contain_text("2 · marked relevant")
    expect(page.locator("#interest .words li").first).to_be_visible()
    assert "s=" in page.url
    page.keyboard.press("n")
    expect(page.locator("#interest")).to_contain_text("Learned from 2 marks")
    page.keyboard.press("u")
    expect(page.locator("#interest")).to_contain_text("Learned from 1 mark (")
    page.keyboard.press("u")
    expect(page.locator("#undo")).to_be_disabled()
    assert ids(page) == first
    page.keyboard.press("Shift+U")
    expect(page.locator(".row").first).to_have_attribute("data-id", first[2])
    page.keyboard.press("j")
    page.keyboard.press("w")
    expect(page.locator(".why-here .sum")).to_contain_text("log-odds")
    parts = page.locator(".why-here tr:not(.sum) .number").all_inner_texts()
    total = float(page.locator(".why-here .sum .number").inner_text())
    assert sum(map(float, parts)) == pytest.approx(total, abs=0.02)
    page.keyboard.press("w")
    expect(page.locator(".why-here")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.locator("dialog.keys-sheet")).to_contain_text("why here?")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.keys-sheet")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("yn")
    expect(page.locator("#interest")).to_contain_text("Learned from 1 mark (")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    current = page.locator(".row.current .open").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("article h1")).to_have_text(current)
    page.go_back()
    expect(page.locator(".row").first).to_have_attribute("data-id", first[2])


@BOTH
def test_marks_words_and_exports_by_mouse(page: Page) -> None:
    page.goto("/search?q=battery+ageing")
    page.locator(".row .act.yes").nth(1).click()
    expect(page.locator("#interest .words li").first).to_be_visible()
    word = page.locator("#interest .words li span").first.inner_text()
    page.locator("#interest .words .drop").first.click()
    expect(page.locator("#interest")).to_contain_text(f"Removed: {word}")
    page.fill("#add", "electrolytes")
    page.keyboard.press("Enter")
    expect(page.locator("#interest .words .added")).to_contain_text("electrolytes")
    page.reload()
    expect(page.locator("#interest .words .added")).to_contain_text("electrolytes")
    page.locator("#interest .more summary").click()
    with page.expect_download() as download:
        page.locator("#export").click()
    assert Path(download.value.path()).read_text().startswith("TY  - ")
    pressed = page.locator(".row .act.yes[aria-pressed=true]")
    pressed.click()
    expect(pressed).to_have_count(0)


@BOTH
def test_facets_pages_and_spelling(page: Page) -> None:
    page.goto("/search?q=study")
    before = page.locator("#count strong").inner_text()
    page.get_by_role("link", name="oncology", exact=True).click()
    expect(page.locator(".filters .chip")).to_contain_text("topic: oncology")
    assert page.locator("#count strong").inner_text() != before
    page.locator(".pages a[rel=next]").click()
    expect(page.locator(".row .rank").first).to_have_text("21")
    page.goto("/search?q=antibiotc")
    page.locator(".suggest a").click()
    expect(page.locator("#q")).to_have_value("antibiotic")


@BOTH
def test_a_group_of_results_narrows_the_list(page: Page) -> None:
    page.goto("/search?q=resistance")
    before = page.locator("#count strong").inner_text()
    page.get_by_role("link", name="Groups of these results").click()
    chosen = page.locator("#groups li").nth(1)
    words, n = chosen.locator("a").inner_text(), chosen.locator(".muted").inner_text()
    chosen.locator("a").click()
    expect(page.locator("#count strong")).to_have_text(n)
    expect(page.locator(".row")).to_have_count(int(n))
    expect(page.locator("#groups .chosen")).to_contain_text(words)
    page.locator(".filters .chip").click()
    expect(page.locator("#count strong")).to_have_text(before)


@BOTH
def test_sources_stream_in(page: Page) -> None:
    page.goto("/search?q=sleep")
    page.locator(".sources summary").click()
    page.get_by_role("button", name="Search these").click()
    page.wait_for_url(re.compile("s="))
    expect(page.locator("#count")).to_contain_text("research ")
    expect(page.locator(".row").first).to_be_visible()


def test_plain_search_and_marks_without_javascript(chromium: Browser, address: str) -> None:
    context = chromium.new_context(base_url=address, java_script_enabled=False)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto("/")
    page.fill("#q", "sleep memory")
    page.get_by_role("button", name="Search", exact=True).click()
    chosen = page.locator(".row").nth(4).get_attribute("data-id")
    page.locator(".row .act.yes").nth(4).click()
    assert page.locator(".row").first.get_attribute("data-id") == chosen
    page.locator("#undo").click()
    assert page.locator(".row").nth(4).get_attribute("data-id") == chosen
    page.locator(".row .act.why").first.click()
    assert page.locator(".why-here .sum").count() == 1
    context.close()


# -- screening, topics, import -----------------------------------------------------------------------------------------


HOLD = """() => {
  window.unheld = fetch;
  window.held = [];
  window.fetch = (...asked) => new Promise((go) => held.push(go)).then(() => unheld(...asked));
}"""
"""Requests wait until they are let go, in the page itself: how long the browser takes to pass one on is no matter."""


def _begun(page: Page, name: str, query: str = "sleep") -> None:
    """A new project, its first record shown."""
    page.goto("/screen")
    page.fill("[name=name]", name)
    page.fill("[name=q]", query)
    page.fill("form.fields [name=reviewer]", "ann")
    page.get_by_role("button", name="Create project").click()
    expect(page.locator(".record h1")).to_be_visible()


def _held(page: Page) -> list[Route]:
    """Scripts that are asked for from now on, and do not come until they are let go."""
    held: list[Route] = []
    page.route("**/static/*.js", lambda route: held.append(route))
    return held


def _let_go(page: Page, held: list[Route]) -> None:
    for route in held:
        route.continue_()
    page.unroute("**/static/*.js")


def test_keys_that_are_early_count_once_for_the_record_that_was_shown(page: Page) -> None:
    _begun(page, "early keys")
    held = _held(page)
    page.reload(wait_until="commit")
    expect(page.locator("#decide")).to_be_visible()
    title = page.locator(".record h1").inner_text()
    for key in ("2", "n", "y"):  # of the two decisions the first one counts
        page.keyboard.press(key)
    expect(page.locator("#told")).to_contain_text("still loading")
    expect(page.locator(".record h1")).to_have_text(title)
    _let_go(page, held)
    expect(page.locator(".record h1")).not_to_have_text(title)
    expect(page.locator(".progress")).to_contain_text("1 of 10 screened, 0 included")
    page.locator(".progress .more > summary").click()
    expect(page.locator(".prisma")).to_contain_text("Excluded, wrong intervention")


def test_buttons_count_before_the_scripts_and_what_is_lost_is_told(page: Page) -> None:
    _begun(page, "early buttons")
    held = _held(page)
    page.reload(wait_until="commit")
    title = page.locator(".record h1").inner_text()
    page.locator("#decide .yes").click()  # no key waits: it goes its way at once
    expect(page.locator(".record h1")).not_to_have_text(title)
    expect(page.locator(".progress")).to_contain_text("1 of 10 screened, 1 included")
    page.keyboard.press("y")  # and is left alone
    page.locator(".brand").click()
    expect(page.locator("#q")).to_be_visible()
    _let_go(page, held)
    expect(page.locator("#told")).to_contain_text("Press it again")


def test_marks_drops_bars_and_files_that_are_early(page: Page) -> None:
    page.goto("/search?q=wild+bees")
    page.keyboard.press("y")
    expect(page.locator("#interest .words li").first).to_be_visible()
    held = _held(page)
    page.reload(wait_until="commit")
    expect(page.locator("nav.bottom")).to_be_attached()
    fourth = ids(page)[3]
    for key in "jjjjn":
        page.keyboard.press(key)
    expect(page.locator(".row.no")).to_have_count(0)
    _let_go(page, held)
    expect(page.locator(".row.no")).to_have_attribute("data-id", fourth)
    held = _held(page)
    page.reload(wait_until="commit")
    page.locator("#interest .weigh [type=range]").first.evaluate("bar => { bar.value = 0; }")
    page.keyboard.press("j")
    _let_go(page, held)
    expect(page.locator("#interest")).to_contain_text("× 0")
    expect(page.locator("#interest")).to_contain_text("Learned from 2 marks")
    held = _held(page)
    page.reload(wait_until="commit")
    expect(page.locator("nav.bottom")).to_be_attached()
    page.keyboard.press("u")
    _let_go(page, held)
    expect(page.locator(".row.no")).to_have_count(0)
    held = _held(page)
    page.reload(wait_until="commit")
    expect(page.locator("#told")).to_be_attached()
    page.evaluate(DROP, base64.b64encode(b"TY  - JOUR\nID  - sel2\nTI  - Selenium\nER  - \n").decode())
    _let_go(page, held)
    expect(page.locator(".card h2")).to_have_text("mine.ris")


def test_without_its_scripts_the_page_says_so_and_its_buttons_work(context: BrowserContext) -> None:
    page = context.new_page()
    page.route("**/static/*.js", lambda route: route.abort())
    page.goto("/search?q=wild+bees")
    page.keyboard.press("y")
    expect(page.locator("#told")).to_contain_text("keys do nothing")
    page.locator(".row .act.yes").first.click()
    expect(page.locator(".row.yes")).to_have_count(1)


def test_a_key_from_before_the_change_decides_nothing_after_it(page: Page) -> None:
    """A key that is pressed over one record, and reaches the page when the next one stands there."""
    _begun(page, "late keys")
    page.wait_for_selector("html[data-ready]", state="attached")
    page.evaluate("() => { window.old = new KeyboardEvent('keydown', { key: 'y', bubbles: true }); }")
    title = page.locator(".record h1").inner_text()
    page.keyboard.press("m")
    expect(page.locator(".record h1")).not_to_have_text(title)
    title = page.locator(".record h1").inner_text()
    page.evaluate("() => { document.body.dispatchEvent(window.old); }")
    expect(page.locator("#told")).to_contain_text("just changed")
    expect(page.locator(".record h1")).to_have_text(title)


@BOTH
def test_two_reviewers_screen_with_the_keyboard(page: Page, request: pytest.FixtureRequest) -> None:
    project = f"naps {request.node.callspec.params['page']}"
    page.goto("/screen")
    page.fill("[name=name]", project)
    page.fill("[name=q]", "sleep")
    page.fill("form.fields [name=reviewer]", "ann")
    page.get_by_role("button", name="Create project").click()
    read = []
    for key in ("y", "n", "m"):
        title = page.locator(".record h1").inner_text()
        read.append(title)
        if key == "n":
            page.keyboard.press("2")
            expect(page.locator("[data-number='2']")).to_be_checked()
        page.keyboard.press(key)
        expect(page.locator(".record h1")).not_to_have_text(title)
    expect(page.locator(".progress")).to_contain_text("2 of 10 screened, 1 included, 1 maybe")
    page.keyboard.press("u")
    expect(page.locator(".record h1")).to_have_text(read[2])
    page.evaluate(HOLD)
    page.keyboard.press("m")
    page.keyboard.press("n")  # while the answer is awaited: told, and decides nothing
    expect(page.locator("#told")).to_contain_text("still being kept")
    assert page.evaluate("held.length") == 1
    page.evaluate("() => held[0]()")
    expect(page.locator(".record h1")).not_to_have_text(read[2])
    assert page.evaluate("held.length") == 1
    page.evaluate("() => { window.fetch = unheld; }")
    expect(page.locator(".progress")).to_contain_text("2 of 10 screened, 1 included, 1 maybe")
    page.locator(".progress .more > summary").click()
    expect(page.locator(".prisma")).to_contain_text("Excluded, wrong intervention")
    page.goto("/screen")
    mine = page.locator(".card", has_text=project)
    mine.locator("[placeholder='your name']").fill("bob")
    mine.get_by_role("button").click()
    expect(page.locator(".progress")).to_contain_text("0 of 10 screened")
    while page.locator(".record h1").count() and page.locator(".record h1").inner_text() != read[0]:
        title = page.locator(".record h1").inner_text()
        page.keyboard.press("y")
        expect(page.locator(".record h1")).not_to_have_text(title)
    page.keyboard.press("n")
    settled(page)
    page.locator(".progress .more > summary").click()
    page.locator(".progress .confirm summary").click()
    expect(page.locator(".progress .confirm")).to_contain_text("cannot be undone")
    page.get_by_role("button", name="Turn blind off").click()
    expect(page.locator(".conflicts")).to_contain_text("yes by ann · ✗ no by bob")
    page.locator(".conflicts [name=reason]").first.fill("it is a nap")
    page.locator(".conflicts .act.yes").first.click()
    expect(page.locator(".conflicts")).to_contain_text("resolved as ✓ include by bob: it is a nap")
    page.locator(".progress .more > summary").click()
    expect(page.locator(".progress")).to_contain_text("ann and bob agree on")


@BOTH
def test_a_search_becomes_a_topic_whose_threshold_is_turned(page: Page, request: pytest.FixtureRequest) -> None:
    topic = f"bees {request.node.callspec.params['page']}"
    page.goto("/search?q=wild+bees")
    page.keyboard.press("j")
    page.keyboard.press("y")
    expect(page.locator("#interest .words li").first).to_be_visible()
    page.locator("#interest .more summary").click()
    page.fill("#topic", topic)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text(topic)
    page.get_by_role("button", name="Check this collection").click()
    expect(page.locator(".hits .row").first).to_be_visible()
    expect(page.locator("svg.timeline")).to_be_visible()
    first = ids(page)[0]
    page.keyboard.press("y")
    expect(page.locator(".judged .row.yes")).to_have_attribute("data-id", first)
    page.keyboard.press("u")
    expect(page.locator(".judged")).to_have_count(0)
    scores = page.locator(".hits .row .about").evaluate_all(
        "all => all.map(one => +one.textContent.split('score ')[1])"
    )
    named = ids(page)
    best, worst = scores.index(max(scores)), scores.index(min(scores))
    for place, said in ((best, "yes"), (worst, "no")):
        if page.locator(f".more .row[data-id='{named[place]}']").count():
            page.locator("article .more:not(.judged) > summary").click()
        row = page.locator(f".hits .row[data-id='{named[place]}']")
        row.locator(f".act.{said}").click()
        judged = page.locator(f".judged .row[data-id='{named[place]}'] .act.{said}")
        expect(judged).to_have_attribute("aria-pressed", "true")
    expect(page.locator("svg.det")).to_have_attribute("aria-label", re.compile(r"\d of \d missed, \d of \d false"))
    point, told = page.locator("svg.det .last"), page.locator("#dial-told")
    expect(told).to_contain_text("A missed document is as bad as 10 false alarms")
    before = point.get_attribute("cx"), point.get_attribute("cy")
    page.locator("#shift").focus()
    page.keyboard.press("End")
    expect(told).to_contain_text("A missed document is as bad as 0.")
    assert (point.get_attribute("cx"), point.get_attribute("cy")) != before
    page.get_by_role("button", name="Save threshold").click()
    expect(told).to_contain_text("A missed document is as bad as 0.")
    expect(page.locator(".over-time tbody tr").first).to_be_visible()
    page.get_by_role("link", name="Digest").click()
    expect(page.locator(".stories li").first).to_be_visible()
    page.goto("/topics")
    expect(page.locator(".card.topic", has_text=topic)).to_contain_text("1 relevant, 1 not")


DROP = """(content) => {
  const carried = new DataTransfer();
  const bytes = Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
  carried.items.add(new File([bytes], "mine.ris"));
  window.dispatchEvent(new DragEvent("dragenter", { dataTransfer: carried }));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, cancelable: true }));
}"""


@BOTH
def test_a_file_is_dropped_seen_and_taken_in(page: Page, request: pytest.FixtureRequest) -> None:
    thing = {"quick": "xylophones", "slow": "glockenspiels"}[request.node.callspec.params["page"]]
    record = f"TY  - JOUR\nID  - {thing}\nTI  - Selenium in {thing}\nAB  - On selenium.\nER  - \n"
    page.goto("/search?q=sleep")
    page.evaluate(DROP, base64.b64encode(record.encode()).decode())
    expect(page.locator(".card h2")).to_have_text("mine.ris")
    expect(page.locator(".card")).to_contain_text("1 record, format RIS. Nothing is stored yet.")
    page.get_by_role("button", name="Import into research").click()
    expect(page.locator(".state.done")).to_contain_text("1 record added")
    page.goto(f"/search?q={thing}")
    expect(page.locator(".row h3")).to_have_text(f"Selenium in {thing}")


# -- topics, models, evaluation ----------------------------------------------------------------------------------------


@BOTH
def test_a_bar_is_dragged_and_moved_by_keys(page: Page) -> None:
    page.goto("/search?q=sleep+memory")
    page.locator(".row .act.yes").first.click()
    bar = page.locator("#interest .weigh [type=range]").first
    expect(bar).to_be_visible()
    word = page.locator("#interest .words li span").first.inner_text()
    box = bar.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.66, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    expect(page.locator("#interest")).to_contain_text(f"Adjusted: {word} × 0")
    assert "weigh=" in page.url
    second = page.locator("#interest .weigh").first.locator("[name=word]").get_attribute("value")
    bar = page.get_by_label(f"How much {second} counts, in percent")
    before = float(bar.input_value())
    bar.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#interest")).to_contain_text(f"{second} × 1.")
    expect(bar).to_be_focused()
    assert float(bar.input_value()) > before
    page.get_by_title(f"Let {word} count as it was learnt").click()
    expect(page.locator("#interest")).not_to_contain_text(f"{word} × 0")


@BOTH
def test_a_model_is_learnt_from_clicks_promoted_and_rolled_back(page: Page) -> None:
    page.goto("/models")
    expect(page.locator("svg.positions")).to_be_visible()
    version = f"clicks@{page.locator('tr', has_text='clicks@').count() + 1}"
    page.get_by_role("button", name="Train on these clicks").click()
    page.get_by_role("link", name=version).first.click()
    expect(page.locator(".verdict")).to_contain_text("against the plain ranking")
    page.locator(".losses > ol a").last.click()
    expect(page.locator(".losses [aria-current]")).to_have_count(1)
    expect(page.locator(".sides section")).to_have_count(2)
    page.goto("/models")
    if not page.locator(".serving").count():
        page.locator("tr", has_text=version).locator(".confirm summary").click()
        page.get_by_role("button", name=f"Promote {version}").click()
    expect(page.locator(".serving")).to_contain_text(f"{version} (wtm), trained")
    page.goto("/search?q=sleep+memory")
    page.locator(".models summary").click()
    page.get_by_role("link", name="clicks learned from clicks").click()
    expect(page.locator(".row").first).to_be_visible()
    page.keyboard.press("w")
    expect(page.locator(".why-here")).to_contain_text("learnt from clicks")
    page.goto("/models")
    page.locator(".confirm summary", has_text="Roll back").click()
    page.get_by_role("button", name="Roll clicks back").click()
    expect(page.locator("main")).to_contain_text("The plain ranking serves.")


HAND = """(files) => {
  const carried = new DataTransfer();
  for (const [name, text] of files) carried.items.add(new File([text], name));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def runs(sample: Path) -> list[tuple[str, str]]:
    """Two runs and judgements, as names and texts."""
    with Engine.open(sample) as engine:
        return [
            ("themes.qrels", planted_qrels(engine)),
            ("bm25.run", planted_run(engine, model="bm25") + "one bad line\n"),
            ("jm.run", planted_run(engine, model="jm")),
        ]


@BOTH
def test_runs_are_dropped_and_compared(page: Page, runs: list[tuple[str, str]]) -> None:
    page.goto("/evaluate")
    page.evaluate(HAND, runs)
    expect(page.locator("h1")).to_have_text("bm25.run against jm.run")
    expect(page.locator(".odd")).to_contain_text("1 line of bm25.run cannot be used")
    expect(page.locator("svg.curves")).to_be_visible()
    page.get_by_role("link", name="AP", exact=True).click()
    expect(page.locator("h2", has_text="AP by query")).to_be_visible()
    page.locator("svg.differences a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#opened .ranking")).to_have_count(2)


# -- widths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_what_is_pressed_is_in_sight_at_every_width(page: Page, library: Library, width: int) -> None:
    """Of a record with a title of 400 characters and an abstract of 6,000, and of every menu that opens."""
    name = f"long {width}"
    fields = {"title": "Segmentation of tumours " * 17, "text": "A sentence of an abstract that is long. " * 150}
    library.screens.create(name, [Document(f"l{n}", {**fields, "year": n}) for n in range(2)])
    library.screens.join(name, "ann")
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"/screen/{name}?reviewer=ann")
    for button in page.locator("#decide .big button").all():
        expect(button).to_be_in_viewport(ratio=1)
    page.locator("#decide .no").click()
    expect(page.locator(".progress")).to_contain_text("1 of 2 screened")
    page.goto("/search?q=sleep+memory")
    for menu in ("sources", "models"):
        page.locator(f".{menu} summary").click()
        box = page.locator(f".{menu} > :not(summary)").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert page.locator(f".{menu} > :not(summary)").evaluate("box => box.scrollWidth <= box.clientWidth")
        page.locator(f".{menu} > :not(summary)").locator("a, button").last.scroll_into_view_if_needed()
        expect(page.locator(f".{menu} > :not(summary)").locator("a, button").last).to_be_in_viewport(ratio=1)
        page.locator(f".{menu} summary").click()


def test_words_without_an_end_widen_no_page(chromium: Browser, tmp_path: Path) -> None:
    """Titles, ids, fields and names that are one long word, at every width."""
    word = "Segmentation" * 25
    fields = {"title": f"copper {word}", "text": f"copper {word}", "journal": word, "topic": word, word: word}
    with Engine.create(tmp_path / ("library" * 12)) as engine:
        engine.add([Document(f"{word}{n}", {**fields, "author": f"{word}, A.", "year": n}) for n in range(3)])
    opened = {name * 12: Engine.open(tmp_path / ("library" * 12)) for name in ("library", "another")}
    library = Library(opened, Workspace.open(tmp_path / "w"), Settings(port=0), tmp_path)
    first = opened["library" * 12]
    topics.follow(library, word[:150], [first.document(f"{word}0")], first)
    topics.feed(library, (Document(f"copy-{each.id}", each.fields) for each in first.documents()))
    library.screens.create(word[:150], [*first.documents()])
    library.screens.join(word[:150], "ann")
    views = [
        "/search?q=copper", f"/document?q=copper&id={word}1", "/topics", f"/topics/{word[:150]}",
        f"/topics/{word[:150]}/digest", "/screen", f"/screen/{word[:150]}?reviewer=ann", "/evaluate", "/import",
    ]  # fmt: skip
    wide = []
    with _serving(library) as at, chromium.new_context(base_url=at) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        for path in views:
            answer = page.goto(path)
            assert answer is not None
            assert answer.ok, path
            for width in (390, 768, 1280):
                page.set_viewport_size({"width": width, "height": 800})
                if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    wide.append((path[:12], width))
    assert wide == []


# -- looks -------------------------------------------------------------------------------------------------------------

VIEWS = {
    "home": "/",
    "search": "/search?q=sleep+memory",
    "nothing": "/search?q=zzzz+year:1900",
    "broken": "/search?q=(sleep",
    "document": "/document?q=sleep&id=sleep-01",
    "screens": "/screen",
    "screen": "/screen/dreams?reviewer=ann",
    "topics": "/topics",
    "topic": "/topics/pollinators",
    "digest": "/topics/pollinators/digest",
    "models": "/models",
    "model": "/models/looked-at@1",
    "evaluate": "/evaluate",
    "import": "/import",
    "keys": "/keys",
    "problem": "/document?id=nowhere",
}


@pytest.fixture(scope="module")
def views(library: Library, address: str, runs: list[tuple[str, str]]) -> dict[str, str]:
    """The views by name, with something in each: a topic that was judged, a project with a conflict, a model, runs."""
    engine = library.engines["research"]
    topics.follow(library, "pollinators", [engine.document(name) for name in engine.search("wild bees", 2).ids], engine)
    topics.feed(library, (Document(f"copy-{each.id}", each.fields) for each in engine.documents()))
    hits = topics.topic_view(library, "pollinators").hits
    for place, hit in enumerate(sorted(hits, key=lambda hit: -hit.score)):
        topics.judge(library, "pollinators", hit.document, place < len(hits) - 3)
    library.screens.create("dreams", [engine.document(name) for name in engine.search("sleep", 20).ids], blind=False)
    project = library.workspace.projects.get("dreams")
    for reviewer, odd in (("ann", 0), ("bob", 1)):
        library.screens.join("dreams", reviewer)
        decided = list(library.workspace.projects.documents(project))[:9]
        said = {name: place % 3 == odd or place == 2 for place, name in enumerate(decided)}
        library.workspace.projects.decide_all(project, reviewer, said)
    with history(library.home, library.events, "research") as store:
        if engine.learn(store, name="looked-at").promoted:
            engine.models.rollback("looked-at")
    files = dict(zip(("qrels", "a", "b"), (Handed(name, text.encode()) for name, text in runs), strict=True))
    key = Evaluations(library.home / "evaluations").keep(files)
    return {**VIEWS, "evaluation": f"/evaluate/{key}?query={runs[0][1].split()[0]}"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_view_is_drawn(
    chromium: Browser, address: str, views: dict[str, str], size: tuple[int, int], scheme: str
) -> None:
    """A screenshot of each; nothing wider than the window, nothing that moves after it was first drawn."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    width, height = size
    context = chromium.new_context(
        base_url=address, viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.add_init_script(
        "window.shift = 0; new PerformanceObserver(l => l.getEntries().forEach(e => { window.shift += e.value; }))"
        ".observe({ type: 'layout-shift', buffered: true });"
    )

    def shoot(name: str) -> None:
        page.screenshot(path=ARTEFACTS / f"{name}-{width}-{scheme}.png")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert page.evaluate("window.shift") < 0.05, name

    for name, path in views.items():
        answer = page.goto(path)
        assert answer is not None
        assert answer.ok or name == "problem", name
        shoot(name)
        if name in ("screen", "topic", "models", "model", "evaluation") and (width < 400) == (scheme == "dark"):
            page.screenshot(path=ARTEFACTS / f"{name}-whole-{width}-{scheme}.png", full_page=True)
    page.goto(VIEWS["search"])
    page.keyboard.press("j")
    page.keyboard.press("y")
    page.wait_for_selector("#interest .words li", state="attached")
    page.keyboard.press("w")
    page.wait_for_selector(".why-here")
    page.screenshot(path=ARTEFACTS / f"marked-{width}-{scheme}.png")
    if width < 400:
        page.locator(".bottom a").last.click()
        expect(page.locator("#interest")).to_be_in_viewport()
        page.screenshot(path=ARTEFACTS / f"sheet-{width}-{scheme}.png")
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(chromium: Browser, address: str, views: dict[str, str], scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = chromium.new_context(base_url=address, bypass_csp=True, color_scheme=scheme, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    found = []
    for name in views if scheme == "light" else ("search", "topic", "evaluation"):
        page.goto(views[name])
        if name == "search":
            page.keyboard.press("j")
            page.keyboard.press("y")
            page.wait_for_selector("#interest .words li")
        for each in Axe().run(page).response["violations"]:
            if each["impact"] in ("serious", "critical"):
                found.append((name, each["id"], [node["html"][:120] for node in each["nodes"][:3]]))
    context.close()
    assert found == []


def test_the_page_is_light() -> None:
    scripts = {path.name: path.read_text(encoding="utf-8") for path in STATIC.glob("*.js")}
    assert sum(len(text.encode()) for text in scripts.values()) < 60_000
    assert len((STATIC / "page.css").read_bytes()) < 40_000
    assert all(text.count("\n") <= 200 for text in scripts.values())
    assert not any("innerHTML" in text for text in scripts.values())
