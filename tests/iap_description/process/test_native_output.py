# SPDX-License-Identifier: BSD-3-Clause
"""Lines of C libraries go where they are sent, and those before or behind that do not."""

import os
import subprocess
import sys

SCRIPT = """
import ctypes, sys
from iap_description.process.native_output import native_output_discarded, native_output_to

libc = ctypes.CDLL(None)

def say(text):
    sys.stdout.write(f"p{text} ")
    sys.stderr.write(f"e{text} ")
    libc.printf(f"c{text} ".encode())

say("before")
with native_output_to(2):
    say("diverted")
say("between")
with native_output_discarded():
    say("dropped")
say("behind")
"""


def test_c_and_python_print_in_order_and_nothing_stays_in_a_buffer():
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT],
        env=buffered,
        capture_output=True,
        text=True,
        check=True,
    )
    whole = {"pbefore", "cbefore", "pbetween", "cbetween", "pbehind", "cbehind"}
    assert set(done.stdout.split()) == whole
    errors = {"ebefore", "pdiverted", "ediverted", "cdiverted", "ebetween", "ebehind"}
    assert set(done.stderr.split()) == errors
