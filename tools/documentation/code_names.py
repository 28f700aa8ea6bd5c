# SPDX-License-Identifier: BSD-3-Clause
"""Pages of what has names: commands, what ``iap list`` lists, messages and services."""

import os
import re
from pathlib import Path

from markdown import MADE, code, table

from iap_bringup.cli.arguments.verbs import VERBS, command_parser
from iap_bringup.cli.listing import KINDS
from iap_bringup.experiments.table import EXPERIMENTS

MESSAGES = Path(__file__).resolve().parents[2] / "iap_msgs"
FIELD = re.compile(r"^(\S+)\s+(\w+)(?:\s*=\s*(\S+))?\s*(?:#\s*(.*))?$")
WIDTH = "96"  # columns of a help text


def command_line() -> str:
    """Every command with its options, and the studies."""
    os.environ["COLUMNS"] = WIDTH
    out = f"{MADE}# Command line\n\nThe help of every command, as `./iap COMMAND --help` prints it.\n\n"
    out += table(("command", "what it does"), ((code(f"iap {v}"), VERBS[v].text) for v in VERBS))
    for verb in VERBS:
        out += f"## iap {verb}\n\n```text\n{command_parser([verb]).format_help().strip()}\n```\n\n"
    rows = ((code(each.name), each.text or "", options_of(each.options)) for each in EXPERIMENTS)
    return f"{out}## Studies\n\n{table(('iap experiment', 'what it does', 'options'), rows)}"


def options_of(names: tuple[str, ...]) -> str:
    """Options as they are typed."""
    return ", ".join(code(f"--{name}") for name in names)


def list_of_names() -> str:
    """Names that ``iap list`` prints, a section for each kind."""
    out = f"{MADE}# Names\n\nWhat the suite brings, as `./iap list` prints it.\n\n"
    for name, kind in KINDS.items():
        out += f"## {name.capitalize()}\n\n`{kind.use}`\n\n"
        out += table(("name", "what it is"), ((code(each), text) for each, text in kind.rows()))
        out += f"{kind.note}\n\n" if kind.note else ""
    return out


def messages() -> str:
    """Fields of the messages and services of iap_msgs."""
    out = f"{MADE}# Messages and services\n\nThe definitions of `iap_msgs`.\n\n"
    for path in sorted([*MESSAGES.glob("msg/*.msg"), *MESSAGES.glob("srv/*.srv")]):
        out += f"## {path.stem}\n\n{definition(path.read_text(encoding='utf-8'))}"
    return out


def definition(text: str) -> str:
    """A message's comment and the table of its fields; of a service both of its parts."""
    out = ""
    for part in re.split(r"^---$", text, flags=re.MULTILINE):
        lines = [line.strip() for line in part.splitlines() if "SPDX" not in line]
        head = [line.lstrip("# ") for line in lines if line.startswith("#")]
        rows: list[list[str]] = []
        for line in lines:
            if found := FIELD.match(line):
                kind, name, value, comment = found.groups()
                rows.append(
                    [code(name + (f" = {value}" if value else "")), code(kind), comment or ""]
                )
        out += " ".join(head) + "\n\n" if head else ""
        out += table(("field", "type", "what it is"), rows) if rows else ""
    return out
