# SPDX-License-Identifier: BSD-3-Clause
"""Strict configuration: frozen records read from YAML, where every key must be known and present.

A record is a pydantic model below `Record`. `validate` turns pydantic's report into one line that names the file, the
key and the value; `override` implements the command line's ``--set KEY=VALUE`` on the plain tree before validation.
"""

import copy
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from iap_description.errors import BadInput
from iap_description.text_files import read_text

Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0.0)]
NonNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0)]
Share = Annotated[float, Field(strict=True, ge=0.0, le=1.0)]  # NaN is neither
Count = Annotated[int, Field(strict=True, ge=1)]
Flag = Annotated[bool, Field(strict=True)]
Vec3 = tuple[Real, Real, Real]
NonNegative3 = tuple[NonNegative, NonNegative, NonNegative]


class Record(BaseModel):
    """A frozen record that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


R = TypeVar("R", bound=BaseModel)


# libyaml's, which is ten times faster, where PyYAML has it
_Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc, valid-type]
    """YAML with the numbers of YAML 1.2 (``1e-7`` is a number) and without repeated keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise BadInput(f"{node.start_mark.name}: key '{key}' is given twice")
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$"
    ),
    list("-+0123456789."),
)
# Integers must win over the float pattern above, which also matches them.
for first in "-+0123456789":
    _Loader.yaml_implicit_resolvers[first].sort(key=lambda entry: entry[0].endswith("float"))


class _NamedText(io.StringIO):
    """Text whose name is that of its source in errors."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


def parse_yaml(text: str, *, source: str) -> Any:  # noqa: ANN401 - YAML is untyped until validated
    """Parse YAML text; `source` names it in errors.

    Raises:
        BadInput: the text is not YAML.
    """
    try:
        return _Loader(_NamedText(text, source)).get_single_data()
    except yaml.YAMLError as error:
        raise BadInput(f"{source}: not valid YAML: {' '.join(str(error).split())}") from error


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises:
        BadInput: the file is missing, is not YAML, or is not a mapping.
    """
    return parse_mapping(read_text(path), source=str(path))


def parse_mapping(text: str, *, source: str) -> dict[str, Any]:
    """Parse YAML text that holds a mapping; `source` names it in errors.

    Raises:
        BadInput: the text is not YAML, or not a mapping.
    """
    tree = parse_yaml(text, source=source)
    if not isinstance(tree, dict):
        raise BadInput(f"{source}: a mapping of keys is expected, found {type(tree).__name__}")
    return tree


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
            raise BadInput(f"no {self.noun} '{name}' (presets: {', '.join(self.names())})")
        return self.folder / f"{name}.yaml"

    def file_or_path(self, name: str) -> Path:
        """The file of a preset, or any other by its path, which ends in .yaml or .yml.

        Raises:
            BadInput: no such preset or file.
        """
        path = Path(name) if name.endswith((".yaml", ".yml")) else self.folder / f"{name}.yaml"
        if not path.is_file():
            known = ", ".join(self.names())
            raise BadInput(
                f"unknown {self.noun} '{name}': choose {known}, or the path of a YAML file"
            )
        return path

    def tree(self, name: str) -> dict[str, Any]:
        """The plain tree of a preset.

        Raises:
            BadInput: no such preset, or its file is not YAML.
        """
        tree = read_yaml(self.file(name))
        return tree if self.base is None else merged(read_yaml(self.file(self.base)), tree)


def validate(record: type[R], tree: object, *, source: str, prefix: str = "") -> R:
    """Build `record` from a plain tree.

    Args:
        record: the pydantic model.
        tree: what YAML gave.
        source: the file or option to name in errors.
        prefix: dotted path of `tree` within `source`.

    Raises:
        BadInput: one line naming source, key and value of the first fault.
    """
    try:
        return record.model_validate(tree)
    except ValidationError as error:
        raise BadInput(f"{source}: {_first_fault(error, tree, prefix)}") from error


def _first_fault(error: ValidationError, tree: object, prefix: str) -> str:
    fault = error.errors(include_url=False)[0]
    path = ".".join([*([prefix] if prefix else []), *_path(fault["loc"], tree)])
    if fault["type"] == "extra_forbidden":
        return f"unknown key '{path}'"
    if fault["type"] == "missing":
        return f"missing key '{path}'"
    message = fault["msg"].removeprefix("Value error, ")
    value = fault["input"]
    shown = "" if isinstance(value, dict) else f" (got {value!r})"
    return f"key '{path}': {message}{shown}" if path else f"{message}{shown}"


def _path(location: tuple[int | str, ...], tree: Any) -> list[str]:  # noqa: ANN401 - YAML
    """The keys of a fault's location, without the kind of record that pydantic adds behind a key `type`."""
    path = []
    for part in location:
        is_kind = isinstance(tree, dict) and part not in tree and tree.get("type") == part
        if is_kind:
            continue
        path.append(str(part))
        known = isinstance(tree, dict) and part in tree
        known |= isinstance(tree, list) and isinstance(part, int) and part < len(tree)
        tree = tree[part] if known else None
    return path


def override(tree: dict[str, Any], assignments: list[str]) -> dict[str, Any]:
    """Apply ``KEY=VALUE`` assignments to a resolved tree and return the changed copy.

    Args:
        tree: the resolved configuration; lists are addressed by index (``vehicles.0.name``).
        assignments: each ``dotted.path=YAML value``.

    Raises:
        BadInput: no ``=``, or a path that the tree does not have.
    """
    tree = copy.deepcopy(tree)
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals or not path:
            raise BadInput(f"--set {assignment}: expected KEY=VALUE")
        _assign(tree, path, parse_yaml(text, source=f"--set {assignment}"))
    return tree


def _assign(tree: Any, path: str, value: object) -> None:  # noqa: ANN401
    *parents, last = path.split(".")
    node = tree
    for depth, key in enumerate([*parents, last]):
        where = ".".join(path.split(".")[: depth + 1])
        if isinstance(node, list) and key.isdigit() and int(key) < len(node):
            index: Any = int(key)
        elif isinstance(node, dict) and key in node:
            index = key
        else:
            known = ", ".join(map(str, node)) if isinstance(node, dict) else "a single value"
            raise BadInput(f"--set {path}: unknown key '{where}' (known here: {known})")
        if depth == len(parents):
            node[index] = value
        else:
            node = node[index]
