"""Comments of SGML, HTML and XML."""


def without_comments(text: str, put: str = " ") -> str:
    """The text with `put` for each comment. One that is not closed stays; a pattern would look for its end at each.

    >>> without_comments("a<!-- b -->c <!-- d")
    'a c <!-- d'
    """
    kept: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[position:start])
        position = end + 3
    kept.append(text[position:])
    return put.join(kept)
