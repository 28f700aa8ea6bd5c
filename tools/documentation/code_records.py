# SPDX-License-Identifier: BSD-3-Clause
"""Pages of keys: what the records of a configuration have, with their types and comments, read from the sources."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any, get_args

from markdown import MADE, code, table
from pydantic import BaseModel

from iap_control.gains import Gains
from iap_description.vehicles.platform import Platform
from iap_learning.tasks.kinds.registry import KINDS as TASK_KINDS
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.shipped import DATA

LINE = re.compile(r"^( *)(\w+):(?: +((?!#).*?))?(?: +# (.*))?$")
Row = tuple[str, str, str]


def default_rows() -> Iterator[Row]:
    """Key, default and meaning of every line of defaults.yaml."""
    path: list[str] = []
    for line in (DATA / "defaults.yaml").read_text(encoding="utf-8").splitlines():
        if found := LINE.match(line):
            indent, name, value, comment = found.groups()
            path[len(indent) // 2 :] = [name]
            yield code(".".join(path)), code((value or "").strip()), comment or ""


def fields(record: type[BaseModel]) -> Iterator[Row]:
    """Key, type and comment of the fields that a record adds to its bases or replaces."""
    lines = textwrap.dedent(inspect.getsource(record)).splitlines()
    (node,) = ast.parse("\n".join(lines)).body
    assert isinstance(node, ast.ClassDef)
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            _, _, comment = lines[(each.end_lineno or 1) - 1].partition("  # ")
            default = f" = {ast.unparse(each.value)}" if each.value is not None else ""
            yield code(each.target.id), code(ast.unparse(each.annotation) + default), comment


def within(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - any type
    """Records in a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from within(each)


def reached(*records: type[BaseModel]) -> list[type[BaseModel]]:
    """Records and those in their fields, each once, the outer ones first."""
    out: dict[type[BaseModel], None] = {}
    ahead = list(records)
    while ahead:
        record = ahead.pop(0)
        if record not in out:
            out[record] = None
            ahead += [each for f in record.model_fields.values() for each in within(f.annotation)]
    return list(out)


def record_sections(*records: type[BaseModel]) -> str:
    """A section for each record: what it is, and its keys."""
    out = ""
    for record in reached(*records):
        bases = [base for base in record.__mro__ if base.__module__.startswith("iap_")]
        rows = {row[0]: row for base in reversed(bases) for row in fields(base)}
        if rows:
            first = (inspect.getdoc(record) or "").partition("\n")[0]
            out += f"## {record.__name__}\n\n{first} (`{record.__module__}`)\n\n"
            out += table(("key", "type", "what it is"), rows.values())
    return out


def scenario_keys() -> str:
    """Keys of scenarios, with defaults, and of the records in them."""
    return (
        f"{MADE}# Keys of a scenario\n\n"
        "A scenario says what differs from these defaults. `--set KEY=VALUE` sets any of them.\n\n"
        f"## Defaults\n\n{table(('key', 'default', 'meaning'), default_rows())}{record_sections(Scenario)}"
    )


def platform_keys() -> str:
    """Keys of platforms and gains."""
    intro = "Keys of the YAML files of platforms, with what they hold, and of gains."
    return f"{MADE}# Keys of a platform\n\n{intro}\n\n{record_sections(Platform, Gains)}"


def learning_task_keys() -> str:
    """Keys of tasks of learning, by their kinds."""
    intro = "Keys of the YAML files of tasks of learning, by kinds of tasks."
    kinds = (TASK_KINDS[name].task for name in TASK_KINDS)
    return f"{MADE}# Keys of a task\n\n{intro}\n\n{record_sections(*kinds)}"
