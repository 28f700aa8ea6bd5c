# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``iap run``, ``replay``, ``localize``, ``list``, ``plot``, ``render`` and others.

Each command's module is imported once the command is known, because most import the whole simulation.
"""

from iap_description.process import interrupts

if __name__ == "__main__":  # before anything that takes its time
    interrupts.install(interrupts.exit_at_once)

import argparse  # noqa: E402
import errno  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from typing import TextIO  # noqa: E402

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # more slow small matrices down
    os.environ.setdefault(_threads, "1")

from iap_bringup import __version__  # noqa: E402 - after the threads are set
from iap_bringup.cli.arguments.parser import CommandParser  # noqa: E402
from iap_bringup.cli.arguments.verbs import VERBS, add_arguments, verbs_with  # noqa: E402
from iap_description.errors import BadInput, IapError, RenamedKey  # noqa: E402

OF_DISKS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # of writes, which name no file
OF_LIMITS = {
    errno.EMFILE,
    errno.ENFILE,
    errno.EAGAIN,
    errno.ENOMEM,
}  # of open files, processes, memory
OF_A_CHECKOUT = {  # commands that ./iap itself does, and what to type elsewhere
    "python": "here type python alone",
    **{each: f"type ./iap {each} there" for each in ("test", "docs", "wheels")},
}
EXIT_DONE, EXIT_FAILED, EXIT_BAD_INPUT = 0, 1, 2
_RENAMED = dict[str, None]()  # warnings of keys by old names, each once, in their order


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0 done, 1 failed flight, 2 bad input, 130 interrupted, 143 terminated.
    """
    _replace_closed_streams()
    warnings.showwarning = _show_warning
    # Libraries' own words; what matters of them comes as an exception. None would be said to be missing.
    logging.lastResort = logging.NullHandler()
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
    try:
        return _parse_and_run(arguments)
    except Exception:
        from iap_bringup.cli.installed_versions import unfit_packages

        unfit = next(unfit_packages(), None)
        if unfit is None:
            raise
        return _say(str(unfit), code=EXIT_BAD_INPUT)


def _parse_and_run(arguments: Sequence[str] | None) -> int:
    with interrupts.handled(interrupts.exit_at_once):
        typed = sys.argv[1:] if arguments is None else arguments
        try:
            options = parse(typed)
            options.run = options.run.load()
        except BadInput as error:
            return _refuse(str(error), EXIT_BAD_INPUT, as_json=_asks_json(typed))
        except OSError as error:  # of the files of Python's own modules
            if error.errno not in OF_LIMITS:
                raise
            return _refuse(_of_limit(error), EXIT_FAILED, as_json=_asks_json(typed))
    try:
        with interrupts.handled(interrupts.raise_interrupt) as received:
            code = _run(options)
    except KeyboardInterrupt as stop:
        return _say(
            interrupts.word(stop),
            *stop.args,
            code=interrupts.exit_code(interrupts.signal_of(stop)),
        )
    except Exception:  # compiled libraries make an error of their own of an interrupt within them
        if not received.number:
            raise
        word = interrupts.WORDS[received.number]
        return _say(word, code=interrupts.exit_code(received.number))
    if code == EXIT_DONE and received.number:
        # In a callback that could not raise it.
        return _say(
            f"{interrupts.WORDS[received.number]}, and yet done",
            code=interrupts.exit_code(received.number),
        )
    return code


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Keep the warning of a renamed key until the command ends, and print others as Python does."""
    if issubclass(category, RenamedKey):
        _RENAMED[str(message)] = None
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        (file or sys.stderr).write(text)


def _replace_closed_streams() -> None:
    """Open /dev/null in place of a standard output or standard error that the shell has closed (``>&-``)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - until the process ends


def _run(options: argparse.Namespace) -> int:
    as_json = getattr(options, "json", False)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
        _say_renamed()
    except BadInput as error:
        return _refuse(str(error), EXIT_BAD_INPUT, as_json=as_json)
    except ValueError as error:
        text = _fault_of_record(error)
        if not text:
            raise
        return _refuse(text, EXIT_BAD_INPUT, as_json=as_json)
    except IapError as error:
        return _refuse(str(error), EXIT_FAILED, as_json=as_json)
    except MemoryError:
        text = "this needs more memory than there is"
        return _refuse(text, EXIT_FAILED, as_json=as_json)
    except OSError as error:
        if error.filename is None and _lose_output():  # else it is of that file
            return _say(f"standard output: {error.strerror}", code=EXIT_FAILED)
        if error.errno in OF_LIMITS:
            return _refuse(_of_limit(error), EXIT_FAILED, as_json=as_json)
        if error.filename is None and error.errno not in OF_DISKS:
            raise
        file = error.filename or f"a file of this run or in {tempfile.gettempdir()}"
        # What may not be looked into is for the user to name or to open; other errors are the system's.
        exit_code = EXIT_BAD_INPUT if isinstance(error, PermissionError) else EXIT_FAILED
        return _refuse(f"{file}: {error.strerror}", exit_code, as_json=as_json)
    return code


def _of_limit(error: OSError) -> str:
    return f"a limit of the system: {error.strerror}"


def _fault_of_record(error: ValueError) -> str:
    """The fault of a record that is made of a configuration's numbers; empty for other errors."""
    from pydantic import ValidationError  # iap doctor runs without it

    from iap_description.config.record import first_fault

    return (
        f"{error.title}: {first_fault(error, None)}" if isinstance(error, ValidationError) else ""
    )


def _asks_json(typed: Sequence[str]) -> bool:
    """True if a command line that could not be parsed asks for JSON; behind ``--`` there are no options."""
    words = list(typed)
    return "--json" in words[: words.index("--") if "--" in words else None]


def _refuse(text: str, code: int, *, as_json: bool) -> int:
    """Say why nothing came of a command, where ``--json`` was asked for on standard output, too."""
    if as_json:
        sys.stdout.write(json.dumps({"error": text, "exit_code": code}) + "\n")
        sys.stdout.flush()
    return _say(text, code=code)


def _say(*words: str, code: int) -> int:
    """End a command with one line, to which old names of keys belong."""
    sys.stderr.write(f"iap: {'; '.join((*words, *_RENAMED))}\n")
    _RENAMED.clear()
    return code


def _say_renamed() -> None:
    for text in _RENAMED:
        sys.stderr.write(f"iap: {text}\n")
    _RENAMED.clear()


def _lose_output() -> bool:
    """Replace a standard output that takes nothing (a full disk, a closed pipe); returns whether it did so."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Options of a command, and as `run` what it runs with them.

    Raises:
        BadInput: something is mistyped.
    """
    if remedy := OF_A_CHECKOUT.get(next(iter(arguments), "")):
        raise BadInput(f"{arguments[0]}: ./iap of a checkout has it; {remedy}")
    parser = CommandParser(
        prog="iap",
        description="Simulate integrated aerial platforms: several quadrotors joined to one body.",
        epilog="In a checkout, ./iap has these commands, and more: ./iap python runs Python in this environment,"
        " ./iap test runs the tests, ./iap docs builds the pages of docs, and ./iap wheels builds wheels for pip."
        " Its pages begin with docs/index.md, and those of a first run with docs/getting_started/first_run.md.",
    )
    parser.examples = (
        "iap run three_star_spiral",
        "iap run hover --platform star_5 --set wind.speed=3",
        "iap view runs/hover-001",
        "iap run --help",
    )
    parser.add_argument("--version", action="version", version=f"iap {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, verb in VERBS.items():
        command = commands.add_parser(name, help=verb.text)
        if name in arguments[:1]:
            add_arguments(command, name, arguments)
            command.commands_with = verbs_with
    return parser.parse_args(arguments)


if __name__ == "__main__":
    exit_code = main()
    interrupts.end_by_exit_code()
    sys.exit(exit_code)
