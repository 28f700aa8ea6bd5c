# SPDX-License-Identifier: BSD-3-Clause
"""JSON of users as plain trees: bounded in depth, without repeated keys and numbers that are none."""

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from iap_description.config.plain_yaml import MAX_DEPTH
from iap_description.config.text_files import MAX_TEXT, read_text
from iap_description.errors import BadInput, shown


def read_json(path: Path) -> Any:  # noqa: ANN401 - JSON is untyped until validated
    """The tree in a JSON file.

    Raises:
        BadInput: the file cannot be read, or is not JSON, see `parse_json`.
    """
    return parse_json(read_text(path), source=str(path))


def parse_json(text: str, *, source: str) -> Any:  # noqa: ANN401 - JSON is untyped until validated
    """The tree in a JSON text; `source` names it in errors.

    Raises:
        BadInput: it is not JSON, is deeper than `MAX_DEPTH`, gives a key twice, or holds a number that is not finite.
    """
    if len(text) > MAX_TEXT:
        raise BadInput(f"{source}: longer than {MAX_TEXT >> 20} MiB")
    try:
        tree = json.loads(
            text, parse_float=finite, parse_constant=refused, object_pairs_hook=_mapping
        )
    except RecursionError as error:
        raise BadInput(f"{source}: more than {MAX_DEPTH} levels deep") from error
    except ValueError as error:
        raise BadInput(f"{source}: not JSON: {error}") from error
    if _is_deeper(tree, MAX_DEPTH):
        raise BadInput(f"{source}: more than {MAX_DEPTH} levels deep")
    return tree


def finite(text: str) -> float:
    """The number in a text of JSON.

    Raises:
        ValueError: it is not finite.
    """
    value = float(text)
    if not math.isfinite(value):
        refused(text)
    return value


def refused(text: str) -> NoReturn:
    """Refuse ``NaN`` and ``Infinity``, which Python reads although JSON has none.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{text} is not a finite number")


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {shown(twice)} is given twice")
    return tree


def _is_deeper(tree: Any, most: int) -> bool:  # noqa: ANN401 - JSON
    """True if a tree has more levels than `most`."""
    level = [tree]
    for _ in range(most + 1):
        parents = [each for each in level if isinstance(each, dict | list)]
        level = [c for p in parents for c in (p.values() if isinstance(p, dict) else p)]
        if not level:
            return False
    return True
