"""germane warmup: compile the kernels before they are needed."""

from typing import Annotated

import typer

from germane.cli.streams import tell


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
    from germane.engine.announcing import announce_compiling
    from germane.engine.compiling import warm_up

    announce_compiling()
    tell(f"kernels ready after {warm_up(everything):.1f} s")
