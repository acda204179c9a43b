"""germane warmup: compile the kernels before they are needed."""

from typing import Annotated

import typer

from germane.cli.streams import tell
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane.engine import announcing, compiling


def warmup(
    everything: Annotated[
        bool, typer.Option("--all", help="Also what vectors and models learnt from clicks need.")
    ] = False,
) -> None:
    """Compile all that building and searching an index need, and keep it on disk.

    Once after installation, or while a container image is made. Without it the first index and the first searches do
    it. Where it is kept: beside the package, or in the folder that NUMBA_CACHE_DIR names.

    Example: germane warmup
    """
    announcing.announce_compiling()
    tell(f"kernels ready after {compiling.warm_up(everything):.1f} s")
