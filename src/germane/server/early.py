"""The one script that stands in the page itself: it keeps what is pressed before the others have come."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

_FOLDER = files("germane") / "server" / "static"
EARLY = (_FOLDER / "early.js").read_text("utf-8")
"""`static/early.js`, as it is inlined."""
EARLY_HASH = f"sha256-{b64encode(sha256(EARLY.encode()).digest()).decode()}"
"""What the content security policy allows it by."""
MODULES = tuple(
    sorted(each.name for each in _FOLDER.iterdir() if each.name.endswith(".js") and each.name != "early.js")
)
"""The modules, which a page asks for all at once rather than one behind another."""
