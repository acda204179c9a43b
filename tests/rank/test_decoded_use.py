"""When unpacked lists are given up for others."""

from germane.rank.decoded import PATIENCE, Use


def test_lists_that_serve_every_second_query_stay() -> None:
    use = Use()
    for turn in range(20 * PATIENCE):
        use.note(served=turn % 2 == 0)
        assert not use.is_poor


def test_lists_that_serve_nobody_are_given_up_after_enough_queries() -> None:
    use = Use()
    for _ in range(PATIENCE - 1):
        use.note(served=False)
    assert not use.is_poor
    use.note(served=False)
    assert use.is_poor
    use.forget()
    assert not use.is_poor


def test_former_use_fades() -> None:
    use = Use()
    for _ in range(100 * PATIENCE):
        use.note(served=True)
    turns = 0
    while not use.is_poor:
        use.note(served=False)
        turns += 1
    assert turns <= 8 * PATIENCE
