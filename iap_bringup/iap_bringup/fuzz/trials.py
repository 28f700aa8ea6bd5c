# SPDX-License-Identifier: BSD-3-Clause
"""One command in a process of its own, within limits of time and memory, and what is wrong with how it ended."""

import gc
import json
import os
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

Main = Callable[[list[str]], int]
SIGNALS = (signal.SIGINT, signal.SIGTERM)
COMPLETE = {"evaluation.json", "summary.json"}  # the last files of a folder that is complete
PART = ".part"  # end of the names of files that are being written
CPU_SECONDS = 60  # after which a command hangs
MEMORY = 2 << 30  # bytes beyond those of the process that it is forked from
UNCAUGHT = 70  # exit code of an exception that nobody caught
POLL = 0.005  # [s]
OUT, ERR = "stdout.txt", "stderr.txt"
FOREIGN = re.compile(r"Traceback|\b[A-Z]\w*(Error|Exception|Warning)\b")
MAX_SHOWN = 300  # characters of what a command said
IMAGE_LIBRARY = re.compile(r"libpng (error|warning): .*\n")  # a line that OpenCV cannot silence
COMPILING = re.compile(r"iap: compil(ing to machine code|ed \d+ kernels?\b).*\n")  # no complaint
OWN_MODULE = re.compile(r"cannot be imported: .*")  # of a user, whose exception is said as it is


class Ending(NamedTuple):
    """The end of a command.

    Attributes:
        code: exit code; negative for the signal that killed it.
        out: standard output.
        err: standard error.
        seconds: of the processor.
        timed_out: whether it was killed after too long a time.
        interrupt: the signal that it was sent, if any.
    """

    code: int
    out: str
    err: str
    seconds: float
    timed_out: bool
    interrupt: int | None = None


class Circumstances(NamedTuple):
    """Circumstances in which a command runs.

    Attributes:
        environment: of a process that starts from nothing in place of a fork.
        interrupt: a signal, and after how long it comes [s].
        limits: by names of ``RLIMIT_...``.
    """

    environment: Mapping[str, str] | None = None
    interrupt: tuple[int, float] | None = None
    limits: Mapping[str, int] | None = None


UNDISTURBED = Circumstances()


def run_command(
    main: Main, arguments: list[str], home: Path, circumstances: Circumstances = UNDISTURBED
) -> Ending:
    """Run a command in a fork of this process, in a folder that takes what it says.

    Args:
        main: the program, which returns its exit code.
        arguments: of the command.
        home: the folder.
        circumstances: what happens to it.
    """
    environment, interrupt, limits = circumstances
    sys.stdout.flush()
    sys.stderr.flush()
    process = _forked(
        main if environment is None else _started(environment), arguments, home, limits or {}
    )
    try:
        status, used, timed_out, sent = _awaited(process, interrupt)
    except BaseException:  # who waits is interrupted: nobody else ends the command
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        raise
    out, err = (_text(home / name) for name in (OUT, ERR))
    code = os.waitstatus_to_exitcode(status)
    timed_out |= code == -signal.SIGXCPU
    return Ending(code, out, err, used.ru_utime + used.ru_stime, timed_out, sent)


def _awaited(
    process: int, interrupt: tuple[int, float] | None
) -> tuple[int, resource.struct_rusage, bool, int | None]:
    """Wait for a process, which gets a signal, or is killed after too long a time.

    Returns:
        Its status, what it has used, whether it was killed, and the signal that it was sent.
    """
    began, timed_out, sent = time.monotonic(), False, None
    patience = CPU_SECONDS * max(1.0, os.getloadavg()[0])
    while True:
        ended, status, used = os.wait4(process, os.WNOHANG)
        if ended:
            return status, used, timed_out, sent
        if interrupt is not None and sent is None and time.monotonic() - began > interrupt[1]:
            sent = interrupt[0]
            os.kill(process, sent)
        if not timed_out and time.monotonic() - began > patience:
            os.kill(process, signal.SIGKILL)
            timed_out = True
        time.sleep(POLL)


def _forked(main: Main, arguments: list[str], home: Path, limits: Mapping[str, int]) -> int:
    """A process that runs a command; signals wait until it answers them, as ``./iap`` starts it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    process = os.fork()
    if not process:
        for number in SIGNALS:  # of this process, where the command is done
            signal.signal(number, signal.SIG_IGN)
        _work(main, arguments, home, limits)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _work(main: Main, arguments: list[str], home: Path, limits: Mapping[str, int]) -> None:
    """Be the child: run a command and exit by its code."""
    code = UNCAUGHT
    try:
        gc.freeze()
        _limit()
        _redirect(home)
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
        code = _exit_code(main, arguments)
    except BaseException:  # each is a fault, which the parent finds by the code and what was said
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code)


def _started(environment: Mapping[str, str]) -> Main:
    """The program in place of this process."""

    def start(arguments: list[str]) -> int:
        command = [sys.executable, "-P", "-m", "iap_bringup.cli.main", *arguments]
        os.execve(sys.executable, command, environment)

    return start


def _exit_code(main: Main, arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as stop:  # of argparse
        return stop.code if isinstance(stop.code, int) else UNCAUGHT


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # a stream that a command has lost is not written
            continue


def _limit() -> None:
    """Bound memory and time of this process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    data = int(re.findall(r"VmData:\s*(\d+)", status)[0]) << 10
    resource.setrlimit(resource.RLIMIT_DATA, (data + MEMORY, data + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # Python's own answer, by an exception
    sys.dont_write_bytecode = True  # files of Python's own, which it would leave cut


def _redirect(home: Path) -> None:
    """Work in a folder, without input, and write what is said into its files."""
    os.chdir(home)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, OUT), (2, ERR)):
        os.dup2(os.open(home / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), number)
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115 - until the process ends
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


def fault_of(arguments: list[str], ending: Ending, out: Path | None) -> str | None:
    """The fault of a command's end; None without one.

    Args:
        arguments: of the command.
        ending: of it.
        out: a folder that was not there before, which it may have made.
    """
    if ending.timed_out:
        return f"hang: {ending.seconds:.0f} s of the processor"
    is_interrupted = ending.interrupt is not None and ending.code == 128 + ending.interrupt
    if not is_interrupted and ending.code not in (0, 1, 2):
        return f"exit code {ending.code}: {_end_of(ending.err)}"
    if "more memory than there is" in ending.err:
        return f"memory: more than {MEMORY >> 20} MiB"
    complaint = COMPILING.sub("", IMAGE_LIBRARY.sub("", ending.err))
    if FOREIGN.search(OWN_MODULE.sub("", complaint)):
        return f"foreign words: {_end_of(ending.err)}"
    if is_interrupted:
        return _fault_of_interrupted(complaint, out)
    if ending.code == 2:
        return _fault_of_refusal(arguments, ending, complaint, out)
    if _asks_json(arguments) and not _is_json(ending.out):
        return f"no json: {ending.out[:MAX_SHOWN]!r}"
    if ending.code == 0 and out is not None and not out.exists():
        return "no folder"
    return None


def _fault_of_refusal(
    arguments: list[str], ending: Ending, complaint: str, out: Path | None
) -> str | None:
    """The fault of a command that has refused its input."""
    if ending.out.strip() and not _asks_json(arguments):
        return f"words before a refusal: {_end_of(ending.out)}"
    if not _is_one_line(complaint):
        return f"not one line: {_end_of(ending.err)}"
    if out is not None and _is_left(out):
        left = sorted(str(each.relative_to(out)) for each in out.rglob("*"))
        return f"folder left: {', '.join(left)[:MAX_SHOWN]}"
    if _asks_json(arguments) and not _is_json(ending.out):
        return f"no json: {ending.out[:MAX_SHOWN]!r}"
    return None


def _fault_of_interrupted(complaint: str, out: Path | None) -> str | None:
    """The fault of a command that a signal has ended."""
    if not _is_one_line(complaint):
        return f"not one line: {_end_of(complaint)}"
    names = {each.name for each in out.rglob("*")} if out is not None else set()
    if names & COMPLETE and "yet done" not in complaint:
        return f"folder that looks complete: {', '.join(sorted(names & COMPLETE))}"
    parts = sorted(name for name in names if name.endswith(PART))
    return f"folder left: {', '.join(parts)}" if parts else None


def _end_of(text: str) -> str:
    return text.strip()[-MAX_SHOWN:]


def _is_one_line(text: str) -> bool:
    """True if a refusal is one line, or argparse's, which has the usage above it."""
    return text.startswith("usage:") or (text.startswith("iap: ") and text.count("\n") == 1)


def _is_left(out: Path) -> bool:
    return out.exists() and not (out / "checkpoint.npz").exists()  # from which a training goes on


def _asks_json(arguments: list[str]) -> bool:
    """True if ``--json`` is an option of a command, not what stands behind ``--``."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return "--json" in arguments[:end]


def _is_json(text: str) -> bool:
    """True if an output is one line of JSON without numbers that are none."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        return isinstance(json.loads(text, parse_constant=refuse), dict) and text.count("\n") == 1
    except ValueError:
        return False
