# SPDX-License-Identifier: BSD-3-Clause
"""Where UWB anchors stand: presets, files, or a list in the scenario."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from iap_description.config import Presets, Record, Vec3, read_yaml
from iap_description.errors import BadInput

PRESETS = Presets(Path(__file__).parent / "data" / "anchors", "anchors")


class Anchor(Record):
    """An anchor that stands in the world."""

    id: Annotated[str, Field(strict=True, min_length=1)]
    position: Vec3  # in `map` [m]


def anchor_trees(given: object) -> object:
    """The plain list of anchors that a preset's name or a file's path stands for; a list is left as it is.

    Raises:
        BadInput: no such preset or file, or an id is given twice in it.
    """
    if not isinstance(given, str):
        return given
    path = Path(given) if given.endswith((".yaml", ".yml")) else PRESETS.folder / f"{given}.yaml"
    if not path.is_file():
        raise BadInput(
            f"no anchors '{given}': choose {', '.join(PRESETS.names())}, the path of a YAML file,"
            " or a list of {id, position}"
        )
    anchors = read_yaml(path).get("anchors")
    if not isinstance(anchors, list):
        raise BadInput(f"{path}: key 'anchors': a list of {{id, position}} is expected")
    twice = repeated(each.get("id") for each in anchors if isinstance(each, dict))
    if twice is not None:
        raise BadInput(f"{path}: key 'anchors': id '{twice}' is given twice")
    return anchors


def repeated(ids: Any) -> str | None:  # noqa: ANN401 - of any kind, from a file
    """The first id that comes again; None if they all differ."""
    seen: list[object] = []  # of any type, where a file is wrong
    for each in ids:
        if each in seen:
            return str(each)
        seen.append(each)
    return None
