# SPDX-License-Identifier: BSD-3-Clause
"""Builds the site of docs/, without a network; every warning is an error.

./iap docs [--out DIR] [--no-python] [--gallery [SCENARIO ...]] [--figures [COMMAND ...]
    [--recordings DIR] [--printed FILE]] [--tables] [--light] [--cameras]
"""

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from camera_picture import take_camera_picture
from gallery import fly_gallery
from light_picture import take_light_picture
from public_names import missing_names
from result_tables import measure, stale_pages, write_tables
from site_pages import PYTHON, ROOT, python_folders

from iap_description.errors import BadInput

INSTALL = ".venv/bin/python -m pip install --require-hashes -r requirements/lock/docs.txt"
NEEDED = ("sphinx", "myst_parser", "autoapi", "furo", "sphinx-mathjax-offline")


def parser() -> argparse.ArgumentParser:
    """The command line's parser."""
    out = argparse.ArgumentParser(prog="iap docs", description=(__doc__ or "").partition("\n")[0])
    out.add_argument(
        "--out", type=Path, default=ROOT / "docs" / "_build", help="folder of the site"
    )
    out.add_argument(
        "--no-python",
        action="store_true",
        help="leave the reference of Python out, which takes minutes",
    )
    out.add_argument(
        "--gallery",
        nargs="*",
        metavar="SCENARIO",
        help="fly these scenarios, or all, and take their pictures anew; nothing is built",
    )
    out.add_argument(
        "--figures",
        nargs="*",
        metavar="COMMAND",
        help="run these commands of the tables, or all, and keep their figures; nothing is built",
    )
    out.add_argument(
        "--recordings",
        type=Path,
        metavar="DIR",
        help="folder of the recordings that commands of --figures fly; without it all but these run",
    )
    out.add_argument(
        "--printed",
        type=Path,
        metavar="FILE",
        help="what the command of --figures has printed by --json, in place of another run",
    )
    out.add_argument(
        "--tables",
        action="store_true",
        help="write the tables of the pages from the figures; nothing is built",
    )
    out.add_argument(
        "--light",
        dest="take",
        action="store_const",
        const=take_light_picture,
        help="draw the picture of light and weather anew; nothing is built",
    )
    out.add_argument(
        "--cameras",
        dest="take",
        action="store_const",
        const=take_camera_picture,
        help="draw the picture of camera effects anew; nothing is built",
    )
    return out


def main() -> int:
    """Run the command; returns its exit code."""
    try:
        return run(parser().parse_args())
    except BadInput as error:
        sys.stderr.write(f"iap: {error}\n")
        return 2


def run(options: argparse.Namespace) -> int:
    """Do what the options say; returns the exit code."""
    if options.gallery is not None:
        return fly_gallery(options.gallery)
    if options.take is not None:
        return int(options.take())
    if options.figures is not None:
        return measure(options.figures, options.recordings, options.printed)
    if options.tables:
        return write_tables()
    if stale := stale_pages():
        names = ", ".join(str(page.relative_to(ROOT)) for page in stale)
        sys.stderr.write(
            f"iap: docs: {names}: tables are not of docs/results/data: ./iap docs --tables\n"
        )
        return 1
    needed = [name for name in NEEDED if find_spec(name) is None]
    if needed:
        sys.stderr.write(f"iap: docs: {', '.join(needed)} not installed: {INSTALL}\n")
        return 2
    from sphinx.cmd.build import main as build

    if options.no_python:
        os.environ[PYTHON] = ""
    strict = ["--fail-on-warning", "--keep-going", "--quiet", "--jobs", "auto"]
    code = int(build([*strict, str(ROOT / "docs"), str(options.out)]))
    packages = [] if code else [Path(each) for each in python_folders()]
    missing = missing_names(options.out, packages)
    for name in missing:
        sys.stderr.write(f"iap: docs: {name} has no entry in the reference of Python\n")
    if code or missing:
        return 1
    sys.stdout.write(f"{options.out / 'index.html'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
