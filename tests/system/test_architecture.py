# SPDX-License-Identifier: BSD-3-Clause
"""docs: every folder is listed with its docstring, and the modules and paths that pages name exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "docs/reference/folders.md").read_text(encoding="utf-8")
PAGE = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
LISTED = dict(re.findall(r"^\| `(iap_\w+/\w+)` \| (.+) \|$", FOLDERS, re.MULTILINE))
MODULE = re.compile(r"`(iap_[a-z]+(?:\.[a-z_0-9]+)+)(?:\.[A-Z]\w+(?:\.\w+)?)?`")
PLACE = re.compile(r"`(iap_[a-z]+/[\w/]+(?:\.py)?/?)`")


def folders() -> dict[str, str]:
    """Each folder of modules in a package, and the first line of its docstring."""
    out = {}
    for init in ROOT.glob("iap_*/iap_*/*/__init__.py"):
        package, folder = init.parts[-3], init.parent
        if sum(1 for _ in folder.rglob("*.py")) > 1:
            text = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8")))
            out[f"{package}/{folder.name}"] = text.splitlines()[0]
    return out


def test_every_folder_is_listed_with_what_its_docstring_says():
    assert folders() == LISTED


def is_there(package: str, *names: str) -> bool:
    """True if a package has a module or folder of this name, or a name in a module."""
    path = ROOT / package / package / Path(*names)
    module = path.parent.with_suffix(".py")
    named = module.is_file() and names[-1] in module.read_text(encoding="utf-8")
    return path.is_dir() or path.is_file() or path.with_suffix(".py").is_file() or named


def test_modules_and_places_that_the_page_names_exist():
    named = [name.split(".") for name in MODULE.findall(PAGE)]
    named += [place.rstrip("/").split("/") for place in PLACE.findall(PAGE)]
    assert named and not [names for names in named if not is_there(*names)]
