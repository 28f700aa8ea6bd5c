# SPDX-License-Identifier: BSD-3-Clause
"""A process ends with its exit code although something in it never does."""

import subprocess
import sys

import pytest

WAITS = {
    "a lock": "import threading; threading.Event().wait()",
    "the interpreter": "import ctypes; ctypes.PyDLL(None).sleep(600)",  # which keeps Python's lock
}
TIMEOUT = 300.0  # after which it hangs [s]


def ended(then, code=3, grace=0.5):
    begun = f"from iap_io.ros.process_end import end_within; print('done'); end_within({grace}, 'x_node', {code})"
    return subprocess.run(
        [sys.executable, "-c", f"{begun}; {then}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )


LINE = "x_node: the middleware did not end within 0.5 s; ended without it\n"


def test_a_process_that_waits_for_ever_ends():
    done = ended(WAITS["a lock"])
    assert done.returncode == 3
    assert done.stdout == "done\n"
    assert done.stderr == LINE


@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 5])
def test_one_in_which_even_python_stands_still_ends_alike_and_says_so(code):
    done = ended(WAITS["the interpreter"], code)
    assert done.returncode == code
    assert done.stdout == "done\n"
    assert done.stderr.endswith(f": {LINE}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("code", [0, 2])
def test_one_that_ends_by_itself_is_not_disturbed(code):
    done = ended(f"import sys; sys.exit({code})", code=7, grace=60.0)
    assert (done.returncode, done.stderr) == (code, "")
