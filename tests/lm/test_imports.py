import subprocess
import sys


def test_lm_needs_only_numpy() -> None:
    heavier = "{'scipy', 'numba', 'germane.index', 'germane.text'}"
    code = f"import germane.lm, sys; print(sorted({heavier} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
