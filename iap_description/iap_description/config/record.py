# SPDX-License-Identifier: BSD-3-Clause
"""Strict configuration: frozen records read from YAML, where every key must be known and present.

A record is a pydantic model below `Record`. `validate` turns pydantic's report into one line that names the file, the
key and the value; `override` implements the command line's ``--set KEY=VALUE`` on the plain tree before validation.
`iap_description.config.plain_yaml` reads the trees.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from iap_description.config.alternatives import COUNT, alternatives, near, question
from iap_description.config.plain_yaml import parse_yaml
from iap_description.config.presets import Presets as Presets
from iap_description.config.presets import merged as merged

# Kinds and sensors of users import these from here, as guides of version 0.6 have it.
from iap_description.config.values import NonNegative as NonNegative
from iap_description.config.values import Positive as Positive
from iap_description.errors import BadInput, shown


class Record(BaseModel):
    """A frozen record that refuses unknown keys."""

    # Most of the suite's 250 records are not used in a flight: a schema is built once it is.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ExtendedRecord(Record):
    """A record with keys that came later: at their defaults they are no part of what is written and hashed.

    Those of its bases came later, too.
    """

    LATER: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _without_later_defaults(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        tree: dict[str, Any] = write(self)
        fields = type(self).model_fields
        later = {key for base in type(self).__mro__ for key in vars(base).get("LATER", ())}
        unused = {key for key in later if getattr(self, key) == fields[key].default}
        return {key: value for key, value in tree.items() if key not in unused}


R = TypeVar("R", bound=BaseModel)
KEY = re.compile("Value error, key '([^']+)'")


def validate(
    record: type[R],
    tree: object,
    *,
    source: str,
    prefix: str = "",
    typed: Mapping[str, str] = {},
) -> R:
    """Build `record` from a plain tree.

    Args:
        record: the pydantic model.
        tree: what YAML gave.
        source: the file or option to name in errors.
        prefix: dotted path of `tree` within `source`.
        typed: options by the dotted paths that they have set, to be named in place of the source.

    Raises:
        BadInput: one line naming source, key and value of the first fault.
    """
    try:
        return record.model_validate(tree)
    except UnicodeEncodeError as error:  # of a refusal that has a name in another encoding
        refusal = error.object.encode(errors="backslashreplace").decode()
        raise BadInput(f"{source}: {refusal}") from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        checked = KEY.match(fault["msg"])  # by a check of several keys
        path = _path(fault["loc"], tree) or (checked[1].split(".") if checked else [])
        source = ", ".join(_options_at(path, typed)) or source
        raise BadInput(f"{source}: {first_fault(error, tree, prefix)}") from error


def _options_at(path: Sequence[str], typed: Mapping[str, str]) -> list[str]:
    """The options that have set the key at a path, or keys below it, or else the nearest one above."""
    depths = {}
    for at, option in typed.items():
        pairs = list(zip(path, at.split("."), strict=False))
        if all(a == b for a, b in pairs):
            depths[option] = len(pairs)
    return [option for option, depth in depths.items() if depth == max(depths.values())]


def first_fault(error: ValidationError, tree: object, prefix: str = "") -> str:
    """Key, reason and value of the first fault that pydantic reports of a tree, whose keys stand below a prefix."""
    fault = error.errors(include_url=False)[0]
    path = ".".join([*([prefix] if prefix else []), *_path(fault["loc"], tree)])
    if fault["type"] == "extra_forbidden":
        *parents, key = fault["loc"]
        beside = _at(tree, parents)
        before = path.removesuffix(str(key))
        meant = near(str(key), [str(each) for each in beside if each != key], before=before)
        return f"unknown key '{path}'" + (f": {meant}" if meant else "")
    if fault["type"] == "missing":
        return _fault_of_length(error, path) or f"missing key '{path}'"
    if fault["type"] in ("union_tag_not_found", "union_tag_invalid"):
        return _fault_of_kind(fault["ctx"], path, fault["input"])
    value = fault["input"]
    if fault["type"] == "too_long" and fault["ctx"]["field_type"] == "Tuple":
        return f"key '{path}': at most {_other_length(fault['ctx']['max_length'], value)}"
    message = _reason(fault["type"], fault["msg"], value)
    # a file that is at fault stands first in its own message
    is_named = isinstance(value, dict) or message.startswith(f"{value}: ")
    got = "" if is_named else f" (got {shown(value)})"
    return f"key '{path}': {message}{got}" if path else f"{message}{got}"


def _fault_of_length(error: ValidationError, path: str) -> str:
    """A list with too few values, by the path of the first that is missing; empty where a key is missing."""
    faults = error.errors(include_url=False)
    *parents, place = faults[0]["loc"]
    values = faults[0]["input"]
    if not isinstance(place, int) or not isinstance(values, list | tuple):
        return ""
    missing = sum(
        each["type"] == "missing" and list(each["loc"][:-1]) == parents for each in faults
    )
    return f"key '{path.rpartition('.')[0]}': {_other_length(len(values) + missing, values)}"


def _other_length(expected: int, values: Sequence[object]) -> str:
    return f"{expected} values are expected, found {len(values)} (got {shown(values)})"


def _reason(kind: str, message: str, value: object) -> str:
    """The reason of a fault, without pydantic's names of classes, and with the names that a mistyped one is like."""
    if kind in ("tuple_type", "list_type"):
        return "a list in brackets belongs here, such as [1, 2]"
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        return "a mapping of keys belongs here"
    if kind == "literal_error" and isinstance(value, str):
        return alternatives(value, re.findall(r"'([^']*)'", message)) or message
    return message.removeprefix("Value error, ")


def _fault_of_kind(context: Mapping[str, Any], path: str, value: object) -> str:
    """A record's kind that there is not, or that is left out; pydantic's words name a function of the suite."""
    quoted = context["discriminator"]
    key = ".".join([*([path] if path else []), quoted.strip("'") if quoted[:1] == "'" else "type"])
    if not isinstance(value, Mapping):
        return f"key '{path}': a mapping with key '{key}' belongs here (got {shown(value)})"
    if "tag" not in context:
        return f"missing key '{key}'"
    kinds = [each.strip(" '") for each in context["expected_tags"].split(",")]
    return f"key '{key}': {alternatives(context['tag'], kinds)} (got {shown(context['tag'])})"


def _at(tree: Any, location: Sequence[int | str]) -> dict[Any, Any]:  # noqa: ANN401 - YAML
    """The mapping at a fault's location; an empty one where there is none."""
    for part in location:
        if isinstance(tree, list):
            tree = tree[part] if isinstance(part, int) and part < len(tree) else None
        elif isinstance(tree, dict) and part in tree:  # else it is the kind of a record
            tree = tree[part]
    return tree if isinstance(tree, dict) else {}


def _path(location: tuple[int | str, ...], tree: Any) -> list[str]:  # noqa: ANN401 - YAML
    """The keys of a fault's location, without the kinds of records and values that pydantic adds between them."""
    path, has_kind = [], False
    for part in location:
        is_kind = isinstance(tree, dict) and tree.get("type") == part and not has_kind
        is_kind |= isinstance(part, str) and isinstance(tree, list | str | float | int)
        has_kind = is_kind
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
        tree: the resolved configuration; lists are addressed by index (``vehicles.0.name``), all of one by ``*``.
        assignments: each ``dotted.path=YAML value``.

    Raises:
        BadInput: no ``=``, or a path that the tree does not have.
    """
    tree = _copied(tree)
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals or not path:
            raise BadInput(f"--set {assignment}: expected KEY=VALUE")
        _assign(tree, path, parse_yaml(text, source=f"--set {assignment}"))
    return tree


def _copied(tree: Any) -> Any:  # noqa: ANN401
    """A tree with mappings and lists of its own, and the same values: `copy.deepcopy` takes fifty times as long."""
    if isinstance(tree, dict):
        return {key: _copied(each) for key, each in tree.items()}
    return [_copied(each) for each in tree] if isinstance(tree, list) else tree


def _length(tree: Any, path: str) -> int:  # noqa: ANN401
    """Number of entries of the list at a path, which a ``*`` stands for.

    Raises:
        BadInput: there is no list.
    """
    node = tree
    for key in path.split("."):
        indices = range(len(node)) if isinstance(node, list) else ()
        is_index = key in map(str, indices)
        node = node[int(key)] if is_index else node.get(key) if isinstance(node, dict) else None
    if not isinstance(node, list):
        raise BadInput(f"--set: key {shown(path)}: no list, so that * stands for nothing")
    return len(node)


def _known_here(node: Any, key: str, before: str) -> str:  # noqa: ANN401
    """Keys to type in place of one that a node of a tree does not have, and what is typed before them."""
    if isinstance(node, dict):
        known = list(map(str, node))
        paths = sorted(_paths_to(key, node), key=lambda path: path.count("."))[: 2 * COUNT]
        meant = question([before + each for each in paths])
        return meant or near(key, known, before=before) or alternatives(key, known)
    if node is None:
        return f"there is none yet: give it whole, --set '{before[:-1]}={{{key}: ...}}'"
    return f"there are {len(node)} here" if isinstance(node, list) else "here is a single value"


def _paths_to(key: str, node: Any) -> Iterator[str]:  # noqa: ANN401
    """Dotted paths below a node that end with a key, in whatever letters."""
    parts: Iterable[tuple[Any, Any]] = node.items() if isinstance(node, dict) else ()
    parts = enumerate(node) if isinstance(node, list) else parts
    for name, part in parts:
        if str(name).lower() == key.lower():
            yield str(name)
        yield from (f"{name}.{below}" for below in _paths_to(key, part))


def _assign(tree: Any, path: str, value: object) -> None:  # noqa: ANN401
    first, every, rest = path.partition(".*.")
    if every:
        for i in range(_length(tree, first)):
            _assign(tree, f"{first}.{i}.{rest}", _copied(value))
        return
    *parents, last = path.split(".")
    node = tree
    for depth, key in enumerate([*parents, last]):
        before = "".join(f"{each}." for each in parents[:depth])
        where = before + key
        if isinstance(node, list) and key in map(str, range(len(node))):
            index: Any = int(key)
        elif isinstance(node, dict) and key in node:
            index = key
        else:
            raise BadInput(f"--set: unknown key {shown(where)}: {_known_here(node, key, before)}")
        if depth == len(parents):
            node[index] = value
        else:
            node = node[index]


def type_of(tree: object) -> Any:  # noqa: ANN401 - of YAML, until it is validated
    """The key `type` of a tree or a record, by which pydantic tells records apart; None without it."""
    return tree.get("type") if isinstance(tree, dict) else getattr(tree, "type", None)
