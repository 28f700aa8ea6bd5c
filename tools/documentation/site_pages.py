# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the site that are made of the code: Sphinx's extension, and the table of these pages."""

import os
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from code_names import command_line, list_of_names, messages
from code_records import learning_task_keys, platform_keys, scenario_keys
from example_scripts import examples
from gallery import gallery
from markdown import MADE
from node_parameters import node_parameters
from python_reference import MODULES, make_quick

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "docs" / "generated"
PYTHON = (
    "IAP_DOCS_PYTHON"  # variable: folders of packages with a reference of Python, between colons
)
TREE = re.compile(r"^\.\. toctree::\n(?: +:\w+:.*\n)*\n((?: +/\S+\n)+)", re.MULTILINE)


def python_folders() -> list[str]:
    """Folders of the packages with a reference of Python: all, or those of the variable."""
    every = ":".join(str(path.parent) for path in sorted(ROOT.glob("iap_*/iap_*/__init__.py")))
    return [each for each in os.environ.get(PYTHON, every).split(":") if each]


def python() -> str:
    """The way into the reference of Python."""
    pages = [f"../reference/python/{Path(each).name}/index" for each in python_folders()]
    tree = "\n".join(("```{toctree}", ":maxdepth: 1", "", *pages, "```")) if pages else ""
    return (
        f"{MADE}# Python\n\nEvery public module, class and function, read from the sources.\n"
        f"Begin with `iap_simulation`: `Simulation` and `record` are there.\n\n{tree}\n"
    )


def apart(page: Callable[[], str]) -> str:
    """A page that is made in a process of its own.

    Nodes of ROS 2 leave threads behind, and Sphinx forks to read on all cores: such a fork may crash.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(page).result()


PAGES: dict[str, Callable[[], str]] = {
    "command_line": command_line,
    "names": list_of_names,
    "scenario_keys": scenario_keys,
    "platform_keys": platform_keys,
    "task_keys": learning_task_keys,
    "messages": messages,
    "parameters": partial(apart, node_parameters),
    "python": python,
    "examples": examples,
    "gallery": gallery,
}


def write_pages(folder: Path) -> list[Path]:
    """Write all generated pages that differ from what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, page in PAGES.items():
        path, text = folder / f"{name}.md", page()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def plain_bars(
    app: Any,  # noqa: ANN401 - Sphinx's, which need not be installed here
    what: str,
    name: str,
    obj: object,
    options: object,
    lines: list[str],
) -> None:
    """Keep |x| in docstrings an absolute value: reST takes it for a substitution."""
    lines[:] = [line if "``" in line else line.replace("|", "\\|") for line in lines]


def lists_of_modules(app: Any, name: str, source: list[str]) -> None:  # noqa: ANN401 - Sphinx's
    """Put lists of links in place of the tables of contents of a module's page.

    The sidebar of every page has the whole tree of contents: with a thousand modules, of 250 kB and a second a page.
    """
    if name.startswith(MODULES):
        lists = TREE.sub(lambda match: re.sub(r" +(/\S+)", r"- :doc:`\1`", match[1]), source[0])
        source[0] = f":orphan:\n\n{lists}"


def setup(app: Any) -> dict[str, bool]:  # noqa: ANN401 - Sphinx's
    """Connect the extension, and the one of equations, which does not declare itself safe for parallel builds."""
    import_module("sphinx-mathjax-offline").setup(app)
    if python_folders():
        make_quick(app)
    app.connect("builder-inited", lambda _: write_pages(GENERATED))
    app.connect("autodoc-process-docstring", plain_bars)
    app.connect("source-read", lists_of_modules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
