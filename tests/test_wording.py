"""Counts and names as sentences have them."""

import time

import pytest

from germane.server.listing import about
from germane.wording import counted, people


@pytest.mark.parametrize(
    ("noun", "many"),
    [("record", "records"), ("query", "queries"), ("day", "days"), ("class", "classes"), ("match", "matches")],
)
def test_nouns_are_counted(noun, many):
    assert (counted(0, noun), counted(1, noun), counted(1200, noun)) == (f"0 {many}", f"1 {noun}", f"1,200 {many}")


@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("Müller, Jürgen; Smith, Anna B.", ["Jürgen Müller", "Anna B. Smith"]),
        (["van der Berg, Jan-Willem", "O'Neil, Seán"], ["Jan-Willem van der Berg", "Seán O'Neil"]),
        (["King, Martin Luther, Jr.", "Anna Smith"], ["Martin Luther King Jr.", "Anna Smith"]),
        (["Committee on Maps, Charts, and Atlases", "Smith,", ", A.", "Smith, 3rd floor"], None),
        ("李, 伟", ["伟 李"]),
        ([None, 5, ""], ["5"]),
        (None, []),
    ],
)
def test_names_are_said_as_names(field, names):
    assert people(field) == (field if names is None else names)


def test_names_stand_so_on_the_page():
    fields = {"author": ["Müller, Jürgen", "Smith, Anna B."], "journal": "Brain", "year": 1999}
    assert about(fields) == ("Jürgen Müller and Anna B. Smith", "Brain", "1999")


def test_a_name_made_to_be_slow():
    began = time.thread_time()
    people("a, " + "b" * 200_000 + "!")
    people("a, " + "b " * 100_000 + "!")
    assert time.thread_time() - began < 2.0
