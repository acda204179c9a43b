"""germane screen --interactive: by keys from a pipe, and in a terminal."""

import csv
import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from germane.cli.samples import write_sample_files

TITLES = {"malaria-vaccine": "A vaccine against malaria", "polio-vaccine": "Vaccines end the fear of polio"}


@pytest.fixture
def review(tmp_path, monkeypatch):
    """The sample's references; we stand beside them."""
    monkeypatch.chdir(tmp_path)
    write_sample_files(tmp_path)
    return ["screen", "references.ris", "--decisions", "new.csv", "--interactive", "--query", "vaccine AND children"]


def kept():
    lines = Path("new.csv").read_text(encoding="utf-8").splitlines()
    return [tuple(row) for row in csv.reader(lines[1:])]


def test_keys_from_a_pipe(run, review):
    result = run(*review, stdin="y\nn\nq\n")
    assert result.exit_code == 0
    assert kept() == [("malaria-vaccine", "1"), ("polio-vaccine", "0")]
    shown = result.stdout
    assert shown.index(TITLES["malaria-vaccine"]) < shown.index(TITLES["polio-vaccine"])
    assert "Malaria kills a child nearly every minute." in shown
    assert "0 of 80 read" in shown
    assert "Go on: no relevant document has been found yet" in shown
    assert shown.splitlines()[-1].startswith("recommendation: Go on")
    assert "\x1b" not in shown


def test_a_later_session_goes_on_and_undoes(run, review):
    run(*review, stdin="yn")  # the end of the input quits
    again = run(*review, stdin="u 5 c the dose? m ? w U x q")
    assert again.exit_code == 0
    assert "2 of 80 read" in again.stdout
    assert "Undo: polio-vaccine." in again.stdout
    assert "Excluded, study design: polio-vaccine." in again.stdout
    assert kept() == [("malaria-vaccine", "1", "", ""), ("polio-vaccine", "0", "study design", ""),
                      (kept()[2][0], "", "", "the dose? m ? w U x q")]  # fmt: skip


def test_every_key(run, review):
    result = run(*review, "--reason", "dose", "--reason", "age", stdin="k j k 2 9 m U ? w u u u u c\nz e out.ris\ne\nq")
    assert result.exit_code == 0
    shown = result.stdout
    for text in (
        "Nothing was passed over.",
        "Excluded, age: malaria-vaccine.",
        "There are 2 reasons: 1 to 2.",
        "Maybe: ",
        "Nothing to redo.",
        "exclude, for that reason",
        "adds to the log-odds",
        "Undo: malaria-vaccine.",
        "Nothing to undo.",
        "'z' means nothing here; ? lists the keys.",
        "0 included records written to out.ris.",
        "Nothing was written: e wants the name of a file.",
    ):
        assert text in shown, text
    assert "1\u00a0dose  2\u00a0age" in shown
    assert kept() == []
    assert Path("out.ris").read_bytes() == b""


def test_a_failed_export_ends_nothing(run, review):
    result = run(*review, stdin="y e no/such/folder/out.ris\nn q")
    assert result.exit_code == 0
    assert "Nothing was written: " in result.stdout
    assert len(kept()) == 2


def test_until_every_record_is_decided(run, review):
    result = run(*review, stdin="n" * 79 + "m" + "y" + "n w u q")
    assert result.exit_code == 0
    assert "Every record is decided." in result.stdout
    assert "u undoes, e exports, q quits." in result.stdout
    assert result.stdout.count("Maybe: ") == 1
    assert len(kept()) == 80


def test_a_search_and_abstracts_in_the_list(run, review):
    found = run("screen", "references.ris", "--query", "vaccine AND children", "--next", 3, "--abstract")
    assert found.stdout.index(TITLES["malaria-vaccine"]) < found.stdout.index(TITLES["polio-vaccine"])
    assert "Malaria kills a child nearly every minute." in found.stdout
    told = run("screen", "references.ris", "--query", "vaccine AND children", "--next", 1, "--abstract", "--json")
    assert '"abstract":"Malaria kills' in told.stdout
    rows = run("screen", "references.ris", "--query", "vaccine AND children", "--next", 1, "--abstract", "--tsv")
    assert [len(row.split("\t")) for row in rows.stdout.splitlines()] == [5, 5]
    nothing = run("screen", "references.ris", "--query", "xyzzy")
    assert nothing.exit_code == 0
    assert "--query finds nothing in references.ris" in nothing.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--interactive", "--label", "title"], "--label says what was decided"),
        (["--interactive", "--decisions", "d.csv", "--json"], "--interactive goes with none of"),
        (["--reason", "age"], "--reason is for --interactive"),
        (["--abstract", "--estimate"], "--abstract is about what is proposed"),
        (["--query", "(heart"], "("),
        (["--label", "included", "--simulate", "--query", "heart"], "no option about decisions or reading"),
        (["--interactive", "--decisions", "d.csv", *["--reason", "r"] * 10], "--reason may be given 9 times"),
    ],
)
def test_bad_options(fails, review, options, message):
    assert message in fails("screen", "references.ris", *options)
    assert not Path("d.csv").exists()


# -- a terminal --------------------------------------------------------------------------------------------------------


class Terminal:
    """A program in a terminal of its own: type, and wait for what it shows."""

    def __init__(self, *words: str) -> None:
        self.master, slave = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "90"}
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.program = subprocess.Popen(
            [sys.executable, "-m", "germane.cli", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            preexec_fn=self._own,  # so that control C reaches it
        )
        self.shown = ""

    def _own(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell has it ignored by what it starts in the background
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def close(self) -> None:
        self.program.kill()
        self.program.wait()
        os.close(self.master)
        os.close(self.slave)

    def wait_for(self, text: str, seconds: float = 1200.0) -> None:
        while text not in self.shown:
            assert select.select([self.master], [], [], seconds)[0], f"{text!r} never came: {self.shown[-2000:]}"
            self.shown += os.read(self.master, 65536).decode(errors="replace")
        self.shown = self.shown.partition(text)[2]

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())


def test_in_a_terminal(review):
    terminal = Terminal(*review)
    try:
        terminal.wait_for("A vaccine against malaria")
        terminal.wait_for("q quit")
        terminal.type("y")  # one key, without Enter
        terminal.wait_for("Included: malaria-vaccine.")
        terminal.type("\x1b[A")  # an arrow is one key, and none of ours
        terminal.wait_for("means nothing here")
        terminal.type("c")
        terminal.wait_for("note: ")
        terminal.type("drei Jährige?\n")
        terminal.wait_for("note: drei Jährige?")
        terminal.wait_for("q quit")
        terminal.type("3")
        terminal.wait_for("Excluded, comparison: ")
        terminal.type("q")
        terminal.wait_for("recommendation: ")
        assert terminal.program.wait(600) == 0
        assert termios.tcgetattr(terminal.slave) == terminal.before
    finally:
        terminal.close()
    first, second = kept()
    assert first == ("malaria-vaccine", "1", "", "")
    assert second[1:] == ("0", "comparison", "drei Jährige?")


def test_an_interrupt_loses_nothing_and_mends_the_terminal(review):
    terminal = Terminal(*review)
    try:
        terminal.wait_for("q quit")
        terminal.type("n")
        terminal.wait_for("Excluded: malaria-vaccine.")
        terminal.type("\x03")
        terminal.wait_for("germane: interrupted")
        assert terminal.program.wait(600) == 130
        assert termios.tcgetattr(terminal.slave) == terminal.before
    finally:
        terminal.close()
    assert kept() == [("malaria-vaccine", "0")]
