# SPDX-License-Identifier: BSD-3-Clause
"""Files of experts."""

from pathlib import Path
from typing import TypeVar

from iap_description.config.record import Presets, Record, validate

EXPERTS = Presets(Path(__file__).parents[1] / "data" / "experts", "expert")
Settings = TypeVar("Settings", bound=Record)


def read_expert(kind: type[Settings], name: str) -> Settings:
    """The numbers of an expert by name, or by the path of a YAML file.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    path = EXPERTS.file_or_path(name)
    return validate(kind, EXPERTS.extended(path), source=str(path))
