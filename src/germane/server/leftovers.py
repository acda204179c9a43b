"""What lies in folders of the server for a while: files on their way in and out, and runs that were measured."""

import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path

KEPT_SECONDS = 24 * 3600
MOST_KEPT = 50
"""Files, or folders of them, of one kind: the latest. Whoever may hand files in must not fill the disk."""


def forget_old(folder: Path) -> None:
    """Remove what has lain in the folder for more than a day, and all but the latest, so that there is room for one."""
    found = []
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another process was faster
            about = path.lstat()
            found.append((about.st_mtime, path, stat.S_ISDIR(about.st_mode)))
    for place, (at, path, is_folder) in enumerate(sorted(found, reverse=True), start=1):
        if place >= MOST_KEPT or time.time() - at > KEPT_SECONDS:
            if is_folder:
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
