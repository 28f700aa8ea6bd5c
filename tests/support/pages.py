# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the documentation: their text, links, tables, commands and examples."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from fork_server import command_server

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted(DOCS.rglob("*.md")) if page.parent.name != "generated"),
]
FENCED = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)
STANDS_FOR = re.compile(  # parts of commands that are no commands yet
    r"\.\.\.|\[|\\$|\b(ENGINE|METHOD|NAME|FILE|PLATFORM|S)\b|^(run|sweep|dataset|localize|train|evaluate) --"
)
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[[^]]*\]\(([^()\s]+)\)")


def name_of(page: Path) -> str:
    """Path within the checkout, as tests show it."""
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    """Text of a page without its fenced blocks."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """File and anchor of every link of a page that is not an address of the web."""
    for target in LINK.findall(prose(page)):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            yield (page.parent / name).resolve() if name else page, anchor


def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as GitHub and MyST make them."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def cells(page: Path) -> Iterator[str]:
    """Cells of the tables of a page."""
    for row in re.findall(r"^ *\|(.+)\|$", prose(page), re.MULTILINE):
        yield from (cell.strip() for cell in re.split(r"(?<!\\)\|", row))


def commands(page: Path) -> list[str]:
    """Words behind ``./iap`` on a page, but for Python, tests, and parts of commands."""
    text = page.read_text(encoding="utf-8")
    typed = re.findall(r"\./iap ((?!test|python|docs|wheels|COMMAND)[a-z][^`#;|\n]+)", text)
    return [each for each in dict.fromkeys(map(str.strip, typed)) if not STANDS_FOR.search(each)]


def sections(page: Path) -> dict[str, str]:
    """Title -> text of the sections of a page."""
    text = page.read_text(encoding="utf-8")
    pattern = r"^## ([^\n]+)\n(.*?)(?=^## |\Z)"
    return dict(re.findall(pattern, text, re.DOTALL | re.MULTILINE))


def files_of(text: str) -> dict[str, str]:
    """Name -> content of the files that a text shows."""
    return {name: content for _, name, content in BLOCK.findall(text) if name}


def write_files(text: str, folder: Path) -> None:
    """Write the files that a text shows."""
    for name, content in files_of(text).items():
        (folder / name).write_text(content, encoding="utf-8")


def output(folder: Path, *words: str) -> str:
    """Run Python in a folder, and return what it prints."""
    done = command_server().python(folder, *words)
    assert done.code == 0, f"{words}\n{done.out}\n{done.error}"
    return done.out


def sentences(page: Path) -> Iterator[list[str]]:
    """Words of the sentences of a page's paragraphs; code, links and symbols count as one word each."""
    text = re.sub(r"^\$\$.*?\$\$", "", prose(page), flags=re.DOTALL | re.MULTILINE)
    lines = [each for each in text.splitlines() if not re.match(r"    |\||#|!\[|<!--", each)]
    text = re.sub(r"\[([^]]*)\]\([^)]*\)|`[^`]*`|\$[^$]*\$", r"\1 x", "\n".join(lines))
    for paragraph in re.split(r"\n\s*\n|\n(?=[-\d] )", text):
        words = (each.split() for each in re.split(r"(?<=[.:?])\s+", paragraph.strip()))
        yield from (each for each in words if each)


def run_commands(page: str, folder: Path) -> None:
    """Run the commands of a page's shell blocks, one after another, in a folder that has the page's files."""
    for kind, _, text in BLOCK.findall(page):
        for line in text.splitlines() if kind == "sh" else ():
            output(folder, "-P", "-m", "iap_bringup.cli.main", *shlex.split(line)[1:])
