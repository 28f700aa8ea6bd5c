# SPDX-License-Identifier: BSD-3-Clause
"""Presets: the YAML files of a folder, by name, and trees on top of each other."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iap_description.config.alternatives import alternatives
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.text_files import check_yaml_path, is_file
from iap_description.errors import BadInput, shown


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """A tree on top of another: mappings that both have are merged key by key, all else is replaced."""
    out = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        out[key] = merged(base[key], value) if both else value
    return out


@dataclass(frozen=True)
class Presets:
    """The YAML files of a folder, by name.

    Attributes:
        folder: where they are.
        noun: what one of them is, for errors.
        base: the preset whose keys all others are laid over; None where each says everything.
    """

    folder: Path
    noun: str
    base: str | None = None

    def names(self) -> list[str]:
        """Names of the presets that ship with the suite."""
        return sorted(path.stem for path in self.folder.glob("*.yaml"))

    def file(self, name: str) -> Path:
        """The file of a preset.

        Raises:
            BadInput: no such preset.
        """
        if name not in self.names():
            raise BadInput(f"no {self.noun} '{name}': {alternatives(name, self.names())}")
        return self.folder / f"{name}.yaml"

    def file_or_path(self, name: str) -> Path:
        """The file of a preset, or any other by its path, which ends in .yaml or .yml.

        Raises:
            BadInput: no such preset or file.
        """
        path = Path(name) if name.endswith((".yaml", ".yml")) else self.folder / f"{name}.yaml"
        if not is_file(path):
            check_yaml_path(name)
            what = f"unknown {self.noun} '{name}': {alternatives(name, self.names())}"
            raise BadInput(f"{what} (or the path of a YAML file)")
        return path

    def tree(self, name: str) -> dict[str, Any]:
        """The plain tree of a preset.

        Raises:
            BadInput: no such preset, or its file is not YAML.
        """
        tree = read_yaml(self.file(name))
        return tree if self.base is None else merged(read_yaml(self.file(self.base)), tree)

    def extended(self, path: Path, heirs: tuple[Path, ...] = ()) -> dict[str, Any]:
        """The plain tree of a file, on top of that of the preset or file which its key `extends` names, if any.

        Raises:
            BadInput: there is no such preset, or it extends this one.
        """
        tree = read_yaml(path)
        base = tree.pop("extends", None)
        if base is None:
            return tree
        if not isinstance(base, str) or self.file_or_path(base) in (*heirs, path):
            raise BadInput(
                f"{path}: key 'extends': the name of another {self.noun} is expected (got {shown(base)})"
            )
        return merged(self.extended(self.file_or_path(base), (*heirs, path)), tree)
