# SPDX-License-Identifier: BSD-3-Clause
"""The end of a node's process, which comes even where the middleware's does not.

Readers and writers that Fast DDS destroys while other processes end have been seen to wait for each other for ever (its
issue 6193 reports the same). Launch would then kill the process, and call a flight failed whose work was done.
"""

import faulthandler
import os
import sys
import threading

GRACE = 4.0  # for the middleware to end [s of wall time]; launch becomes impatient after 5 s


def end_within(grace: float, name: str, code: int) -> None:
    """End this process with an exit code, if it has not ended by itself after some time [s].

    All that a process has to write is written by now. Where even Python stands still, it ends after twice the time,
    with what its threads were at and the exit code 1.
    """

    def end() -> None:
        sys.stderr.write(
            f"{name}: the middleware did not end within {grace:g} s; ended without it\n"
        )
        sys.stderr.flush()
        os._exit(code)

    sys.stdout.flush()
    timer = threading.Timer(grace, end)
    timer.daemon = True
    timer.start()
    faulthandler.dump_traceback_later(2.0 * grace, exit=True)
