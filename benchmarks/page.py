"""How long the server takes from a mark to the new list, and to start a second time; on the sample collection.

    python benchmarks/page.py

Times of marks are those of the processor, so that other work on the machine counts little, beside the wall's. The list
has 200 results, 20 of them shown: a mark is written to the workspace and flushed, the list ranked anew and rendered.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

MARKS = 30
STARTS = 3


def main() -> None:
    """Print the figures as one line of JSON."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GERMANE_HOME"] = folder
        first = _start()
        second = [_start() for _ in range(STARTS)]
        marked = _marks(Path(folder))
    print(json.dumps({"first_start_s": first, "second_start_s": sorted(second), **marked}))


def _start() -> float:
    """Seconds of wall time that `germane serve --check` takes: start, three answers, end."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "germane.cli", "serve", "--check", "--port", "0"]
    subprocess.run(command, check=True, capture_output=True)
    return round(time.perf_counter() - began, 2)


def _marks(folder: Path) -> dict[str, object]:
    from starlette.testclient import TestClient

    from germane.server import Settings, create_app
    from germane.server.listing import keep_search, listing
    from germane.server.place import Place
    from germane.server.running import open_library

    library = open_library([], Settings(per_minute=10**6), workspace=folder / "bench.workspace")
    client = TestClient(create_app(library), base_url="http://127.0.0.1")
    client.get("/")
    place = Place(q="patients study treatment")
    kept = keep_search(library, place, listing(library, place).rows[0].id)
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


if __name__ == "__main__":
    main()
