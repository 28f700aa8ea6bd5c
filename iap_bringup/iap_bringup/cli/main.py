# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``iap run``, ``replay``, ``localize``, ``list``, ``plot``, ``render`` and others.

Each command's module is imported once the command is known, because most import the whole simulation.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # more slow small matrices down
    os.environ.setdefault(_threads, "1")

from iap_description.errors import BadInput, IapError  # noqa: E402 - after the threads are set

EXIT_DONE, EXIT_FAILED, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 0, 1, 2, 130
COMMANDS = {  # command -> its module in this folder, which has add_COMMAND(parser), and its help
    "run": ("flight", "fly a scenario"),
    "replay": ("flight", "fly the commands of a recorded flight"),
    "localize": ("localize", "estimate where recorded aircraft were"),
    "list": ("listing", "what there is to fly"),
    "plot": ("images", "draw a run's plots again"),
    "render": ("images", "picture of a run, or its images again"),
    "experiment": ("studies", "a study with a table"),
    "bench": ("studies", "measure speed"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed flight, 2 bad input, 130 interrupted."""
    options = parse(sys.argv[1:] if arguments is None else arguments)
    try:
        return int(options.run(options))
    except BadInput as error:
        sys.stderr.write(f"iap: {error}\n")
        return EXIT_BAD_INPUT
    except IapError as error:
        sys.stderr.write(f"iap: {error}\n")
        return EXIT_FAILED
    except KeyboardInterrupt:
        sys.stderr.write("iap: interrupted\n")
        return EXIT_INTERRUPTED


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Options of a command, and as `run` the function that it runs with them."""
    parser = argparse.ArgumentParser(
        prog="iap",
        description="Simulates integrated aerial platforms: several quadrotors joined to one body.",
        epilog="Example: iap run three_star_spiral --gains paper --set wind.speed=3",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (module, text) in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name in arguments[:1]:
            getattr(importlib.import_module(f"{__package__}.{module}"), f"add_{name}")(command)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
