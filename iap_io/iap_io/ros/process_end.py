# SPDX-License-Identifier: BSD-3-Clause
"""The end of a node's process, which comes even where the middleware's does not.

Readers and writers that Fast DDS destroys while other processes end have been seen to wait for each other for ever
(its issue 6193 reports the same), also while they keep Python's lock, so that no thread of Python can help. Launch
would then kill the process, and call a flight failed whose work was done.
"""

import ctypes
import os
import sys
import threading

GRACE = 3.0  # for the middleware to end [s of wall time]; launch becomes impatient after 5 s
LATER = 1.5  # for Python to say that it did not [s]

LAUNCHER = "IAP_LAUNCHER"  # variable with the number of the process that started this one
_PARENT = os.getppid()

_TEXTS: list[ctypes.Array[ctypes.c_char]] = []
_MONOTONIC, _BY_THREAD = 1, 2  # CLOCK_MONOTONIC and SIGEV_THREAD of time.h and signal.h on Linux


class _Event(ctypes.Structure):
    """struct sigevent."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("function", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("rest", ctypes.c_char * 32),
    )


class _Times(ctypes.Structure):
    """struct itimerspec: seconds and nanoseconds between repetitions, and until the first."""

    _fields_ = tuple((name, ctypes.c_long) for name in ("each", "each_ns", "first", "first_ns"))


def launch_has_ended() -> bool:
    """True if the launch that started this process has ended; never, where none did."""
    launcher = os.environ.get(LAUNCHER, "")
    if not launcher or os.getppid() == int(launcher):
        return False
    try:
        os.kill(int(launcher), 0)
    except ProcessLookupError:
        return True
    return _PARENT == int(launcher)  # it is dead, and nobody has waited for it


def end_within(grace: float, name: str, code: int) -> None:
    """End this process with an exit code, if it has not ended by itself after some time [s].

    All that a process has to write is written by now. Where even Python stands still, the C library says so.
    """
    line = f"{name}: the middleware did not end within {grace:g} s; ended without it"

    def end() -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
        os._exit(code)

    sys.stdout.flush()
    timer = threading.Timer(grace, end)
    timer.daemon = True
    timer.start()
    _call_after(grace + LATER, "warnx", _text(line))
    _call_after(grace + LATER + 0.1, "_exit", code)


def _text(line: str) -> int:
    """The address of a text for the C library, which is never freed and has no format."""
    buffer = ctypes.create_string_buffer(line.replace("%", "%%").encode())
    _TEXTS.append(buffer)
    return ctypes.addressof(buffer)


def _call_after(seconds: float, name: str, value: int) -> None:
    """Let the C library call one of its functions with a value, whatever holds Python's lock.

    Raises:
        OSError: the system has no timer left.
    """
    library = ctypes.CDLL(None, use_errno=True)
    function = ctypes.cast(getattr(library, name), ctypes.c_void_p)
    event = _Event(value=value, notify=_BY_THREAD, function=function)
    timer, whole = ctypes.c_void_p(), int(seconds)
    times = _Times(first=whole, first_ns=int(1e9 * (seconds - whole)))
    created = library.timer_create(_MONOTONIC, ctypes.byref(event), ctypes.byref(timer))
    if created or library.timer_settime(timer, 0, ctypes.byref(times), None):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
