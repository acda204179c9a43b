"""docs/metasearch.md: the source of one's own that it shows works, and its tables name what there is."""

import json
import re
from pathlib import Path

from germane.metasearch import SOURCE_KINDS
from germane.metasearch.answers import KINDS
from germane.metasearch.configuration import USUAL_KEYS, Configuration
from germane.metasearch.merging import RANKINGS

PAGE = (Path(__file__).parents[2] / "docs" / "metasearch.md").read_text(encoding="utf-8")


def test_the_source_of_ones_own(library, searching):
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "class Shelf" in block]
    names = {}
    exec(compile(code, "metasearch.md", "exec"), names)
    shelf = names["Shelf"](url=f"{library.url}/shelf")
    books = {"books": [{"no": 7, "name": "Copper"}, {"no": 8, "name": "Zinc"}]}
    library.scripts["/shelf"] = [
        (500, {}, "text/plain", "later"), (200, {}, "application/json", json.dumps(books)),
        (200, {}, "application/json", '{"problem": "closed on Mondays"}'),
    ]  # fmt: skip
    found = searching(shelf).search("metal", 5)
    assert [(one.id, one.fields["title"]) for one in found] == [("shelf:7", "Copper"), ("shelf:8", "Zinc")]
    assert library.asked("/shelf")[1] == {"words": "metal", "from": "0", "n": "5"}
    assert searching(shelf).search("metal").failures["shelf"].message == "closed on Mondays"


def test_its_tables():
    rows = re.findall(r"^\| `([\w -]+)`", PAGE, re.MULTILINE)
    assert set(SOURCE_KINDS) <= set(rows)
    assert set(RANKINGS) - {"combmnz"} <= set(rows)
    assert all(f"`{kind}`" in PAGE for kind in KINDS)
    assert all(variable in PAGE for variable in USUAL_KEYS.values())


def test_its_settings(tmp_path):
    (toml,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "sources.toml").write_text(toml, encoding="utf-8")
    lab = Configuration.read(tmp_path / "sources.toml").source("lab")
    assert (lab.timeout, lab.weight, lab.policy.rate.count) == (5, 2, 2)
