"""The same cases as an ordinary user: what root may do hides errors, and makes others."""

import os
from pathlib import Path

from fuzz.harness import Judge, Verdict

NOBODY = 65534


def as_nobody(judge: Judge, folder: Path) -> Judge:
    """The judge, in a child that gives up being root before its first case; `folder` becomes that user's."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY)

    def judge_as_nobody(case: int) -> Verdict:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return judge(case)

    return judge_as_nobody
