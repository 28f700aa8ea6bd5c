# SPDX-License-Identifier: BSD-3-Clause
"""Tables of README and docs that are made of measured figures: templates, figures, and the tables in the pages.

``docs/results/data`` holds one YAML file a page, with the commands that are measured and a template of each table, and
``figures.json`` with what the commands printed by ``--json``. A page has a table behind a line
``<!-- table NAME: made by ./iap docs --tables -->``. A line of a template that begins with ``@NAME`` is a row for each
word of that list below ``names``, which takes the place of ``$``.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from iap_description.errors import BadInput

PLACEHOLDER = re.compile(r"\{(\w+)(?:\.([^{}]+?):(\d+)([get]?)(?: ([^{}]+))?)?\}")
REPEATED = re.compile(r"^@(\w+) (.*\n)", re.MULTILINE)  # name of a list, and a row
TABLE = re.compile(r"^<!-- table (\S+): [^\n]*-->\n((?:\|[^\n]*\n)*)", re.MULTILINE)
FACTORS = {"mm": 1e3, "mrad": 1e3, "ms": 1e3, "mN": 1e3, "%": 100.0}  # of SI units; others: 1
REPEATED_UNIT = re.compile(r"(?<=\d) (mm|deg)(?=, -?[\d.]+ \1\b)")  # of figures side by side
BELOW = "below "  # a figure that is all but zero
Figures = Mapping[str, Mapping[str, Any]]  # command -> its figures by their paths


class Placeholder(NamedTuple):
    """A figure in a template: ``{alias.path:digits unit}``, digits behind the point or significant ones.

    Attributes:
        command: that prints it, without ``iap`` and ``--json``.
        path: of keys and indices in what the command prints, between dots.
        digits: number of digits.
        form: ``f``; ``g`` counts significant digits, ``e`` has a power of ten, ``t`` rounds and groups: 741 000.
        unit: of the text; empty for none.
    """

    command: str
    path: str
    digits: int
    form: str
    unit: str

    @property
    def factor(self) -> float:
        """Factor from SI units to the unit of the text."""
        return FACTORS.get(self.unit, 1.0)

    def number(self, value: float) -> str:
        """A value as the page shows it, without its unit."""
        if self.form == "t":
            return f"{float(f'{self.factor * value:.{self.digits}g}'):,.0f}".replace(",", " ")
        text = f"{self.factor * value:.{self.digits}{self.form}}"
        if value and not float(text):
            return f"{BELOW}{10.0**-self.digits:.{self.digits}f}"
        return re.sub(r"e([+-])0", r"e\1", text)

    def text(self, value: Any) -> str:  # noqa: ANN401 - a number, several, a word or none
        """A value or values with their unit; "-" for none."""
        if value is None or isinstance(value, str):
            return value or "-"
        values = value if isinstance(value, list) else [value]
        numbers = ", ".join("-" if each is None else self.number(each) for each in values)
        return f"{numbers} {self.unit}".rstrip()


class PageTables(NamedTuple):
    """Templates of all tables.

    Attributes:
        commands: text behind ``iap`` by alias, for each table by its name.
        templates: by the tables' names.
    """

    commands: dict[str, dict[str, str]]
    templates: dict[str, str]

    @classmethod
    def load(cls, folder: Path) -> "PageTables":
        """Read the YAML files of a folder.

        Raises:
            BadInput: a name of a table stands in two files, or an alias or a list is unknown.
        """
        out = cls({}, {})
        for path in sorted(folder.glob("*.yaml")):
            tree = yaml.safe_load(path.read_text(encoding="utf-8"))
            for name, text in tree["tables"].items():
                template = _repeated(text, tree.get("names", {}), path)
                if name in out.templates:
                    raise BadInput(f"{path}: table '{name}' stands in another file, too")
                for alias, *_ in PLACEHOLDER.findall(template):
                    if alias not in tree["commands"]:
                        raise BadInput(f"{path}: table '{name}': unknown command '{alias}'")
                out.templates[name] = template
                out.commands[name] = tree["commands"]
        return out

    def placeholders(self, name: str) -> Iterator[Placeholder]:
        """Figures of a table."""
        for match in PLACEHOLDER.finditer(self.templates[name]):
            if match[2]:
                yield self._placeholder(name, match)

    def _placeholder(self, name: str, match: re.Match[str]) -> Placeholder:
        command = self.commands[name][match[1]]
        return Placeholder(command, match[2], int(match[3]), match[4] or "f", match[5] or "")

    def paths(self) -> dict[str, list[str]]:
        """Paths of the figures of each command, in all tables."""
        out: dict[str, dict[str, None]] = {}
        for name in self.templates:
            for each in self.placeholders(name):
                out.setdefault(each.command, {})[each.path] = None
        return {command: list(paths) for command, paths in out.items()}

    def table(self, name: str, figures: Figures) -> str:
        """A table with its figures; of several with one unit the last one has it.

        Raises:
            BadInput: a figure was not measured.
        """

        def filled(match: re.Match[str]) -> str:
            if not match[2]:
                return f"`./iap {self.commands[name][match[1]]}`"
            each = self._placeholder(name, match)
            if each.path not in figures.get(each.command, {}):
                remedy = f"./iap docs --figures '{each.command}'"
                raise BadInput(f"table '{name}': no figure '{each.path}': {remedy}")
            return each.text(figures[each.command][each.path])

        text = PLACEHOLDER.sub(filled, self.templates[name])
        return REPEATED_UNIT.sub("", text).strip() + "\n"


def _repeated(template: str, names: Mapping[str, Sequence[str]], path: Path) -> str:
    """A template of a file with the rows of its lists written out."""

    def rows(match: re.Match[str]) -> str:
        if match[1] not in names:
            raise BadInput(f"{path}: row '@{match[1]}': 'names' has no such list")
        return "".join(match[2].replace("$", each) for each in names[match[1]])

    return REPEATED.sub(rows, template)


def value_at(tree: Any, path: str) -> Any:  # noqa: ANN401 - any node of JSON
    """A node of a tree of dictionaries and lists by a path such as ``vehicles.iap_2.position_rmse_m``.

    Keys may have dots themselves: the longest that fits is taken. A bar in a list is named by what it measures.

    Raises:
        BadInput: there is none.
    """
    node, parts = tree, path.split(".")
    while parts:
        if isinstance(node, list) and not parts[0].isdigit():
            node = {each["what"]: each for each in node if "what" in each}
        if isinstance(node, list):
            node, parts = node[int(parts[0])], parts[1:]
            continue
        sizes = range(len(parts), 0, -1)
        size = next(
            (k for k in sizes if isinstance(node, dict) and ".".join(parts[:k]) in node), 0
        )
        if not size:
            raise BadInput(f"no figure '{path}': nothing is called '{parts[0]}'")
        node, parts = node[".".join(parts[:size])], parts[size:]
    return node


def load_figures(folder: Path) -> dict[str, dict[str, Any]]:
    """Figures of figures.json by command and path."""
    path = folder / "figures.json"
    tree = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {command: entry["figures"] for command, entry in tree.items()}


def filled(text: str, tables: PageTables, figures: Figures) -> str:
    """A page's text with its tables made anew.

    Raises:
        BadInput: it names an unknown table, or a figure was not measured.
    """

    def table(match: re.Match[str]) -> str:
        name = match[1]
        if name not in tables.templates:
            raise BadInput(f"unknown table '{name}'")
        head = match[0].partition("\n")[0]
        return f"{head}\n{tables.table(name, figures)}"

    return TABLE.sub(table, text)
