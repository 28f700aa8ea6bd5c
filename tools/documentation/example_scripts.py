# SPDX-License-Identifier: BSD-3-Clause
"""The page of the example scripts, each with what it says at its top."""

import ast
from pathlib import Path

from markdown import MADE

FOLDER = Path(__file__).resolve().parents[2] / "examples"


def examples() -> str:
    """A section for each script: what it shows, and its code."""
    out = (
        f"{MADE}# Examples\n\nEach script is complete, and tests run all of them. Type, in an empty folder,\n"
        "`./iap python examples/01_first_flight.py`; `--quick` makes a script short.\n\n"
    )
    for path in sorted(FOLDER.glob("[0-9]*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        title, _, rest = (ast.get_docstring(tree) or path.stem).partition(": ")
        code = "\n".join(text.splitlines()[tree.body[0].end_lineno or 0 :]).strip()
        out += f"## {title}\n\n{rest[:1].upper()}{rest[1:]}\n\n```python\n{code}\n```\n\n"
    return out
