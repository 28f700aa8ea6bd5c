# SPDX-License-Identifier: BSD-3-Clause
"""Builds the site of docs/, without a network; every warning is an error.

./iap docs [--out DIR] [--no-python] [--gallery [SCENARIO ...]]
"""

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from gallery import fly_gallery
from site_pages import PYTHON, ROOT

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
    return out


def main() -> int:
    """Run the command; returns its exit code."""
    options = parser().parse_args()
    if options.gallery is not None:
        return fly_gallery(options.gallery)
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(f"iap: docs: {', '.join(missing)} not installed: {INSTALL}\n")
        return 2
    from sphinx.cmd.build import main as build

    if options.no_python:
        os.environ[PYTHON] = ""
    strict = ["--fail-on-warning", "--keep-going", "--quiet", "--builder", "html"]
    code = int(build([*strict, str(ROOT / "docs"), str(options.out)]))
    if code == 0:
        sys.stdout.write(f"{options.out / 'index.html'}\n")
    return 1 if code else 0


if __name__ == "__main__":
    sys.exit(main())
