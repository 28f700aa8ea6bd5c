# SPDX-License-Identifier: BSD-3-Clause
"""YAML of users as plain trees: with the numbers of YAML 1.2, without repeated keys, dates and endless aliases.

And plain trees as YAML, for whoever reads them by machine.
"""

import io
import pickle
import re
from collections.abc import Hashable
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from iap_description.config.text_files import read_text
from iap_description.errors import BadInput, shown

MAX_DEPTH = 50  # of brackets and indentations
MAX_NODES = 200_000  # values, with those that aliases repeat
CACHED_TEXT = 1 << 16  # characters of the longest text whose tree is kept

# libyaml's, which are ten times faster, where PyYAML has them
_Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BaseDumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_NUMBER_STARTS = "-+0123456789."


class _Loader(_Base):  # type: ignore[misc, valid-type]
    """YAML with the numbers of YAML 1.2 (``1e-7`` is a number), and without repeated keys and dates."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401
        try:
            return super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        except Exception as error:  # what PyYAML's constructors meet in values that are none
            kind = node.tag.removeprefix("tag:yaml.org,2002:")
            value = shown(node.value) if isinstance(node, yaml.ScalarNode) else "this"
            problem = f"{value} is no {kind}"
            raise yaml.constructor.ConstructorError(
                None, None, problem, node.start_mark
            ) from error

    def construct_mapping(self, node: yaml.Node, deep: bool = False) -> dict[Any, Any]:
        if isinstance(node, yaml.MappingNode):
            self._check_keys(node)
        return super().construct_mapping(node, deep)

    def _check_keys(self, node: yaml.MappingNode) -> None:
        keys = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                continue  # refused by the base class: it cannot be a key
            if key in keys:
                problem = f"key {shown(key)} is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            if isinstance(key, bool):
                problem = (
                    f"key {shown(key_node.value)} is {str(key).lower()} in YAML: put it in quotes"
                )
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            keys.add(key)


def _refuse_tag(_: yaml.Loader, node: yaml.Node) -> None:
    """Refuse ``!x`` and ``<<``, which stand for what is written elsewhere."""
    tag = node.tag.removeprefix("tag:yaml.org,2002:")
    problem = f"tag {shown(tag)} is not read: leave it out"
    if tag == "merge":
        problem = "keys are not merged (<<): write them out"
    raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


# None is any other tag; the others make of a text what no key takes and no report can hold.
for _tag in (
    None,
    *(f"tag:yaml.org,2002:{_kind}" for _kind in ("binary", "timestamp", "set", "omap", "pairs")),
):
    _Loader.add_constructor(_tag, _refuse_tag)


class _PlainDumper(_BaseDumper):  # type: ignore[misc, valid-type]
    """YAML in which a text that `_Loader` would take for a number is quoted."""


for _each in (_Loader, _PlainDumper):
    _each.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(
            r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$"
        ),
        list(_NUMBER_STARTS),
    )
# Integers must win over the float pattern above, which also matches them; dates are texts.
for _first, _resolvers in _Loader.yaml_implicit_resolvers.items():
    _resolvers[:] = [each for each in _resolvers if not each[0].endswith("timestamp")]
    if _first in _NUMBER_STARTS:
        _resolvers.sort(key=lambda entry: entry[0].endswith("float"))


class _NamedText(io.StringIO):
    """Text whose name is that of its source in errors."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


def parse_yaml(text: str, *, source: str) -> Any:  # noqa: ANN401 - YAML is untyped until validated
    """Parse YAML text; `source` names it in errors.

    A platform's file is read for each of its vehicles, and parsed once.

    Raises:
        BadInput: the text is not YAML, or comes to more than `MAX_DEPTH` or `MAX_NODES`.
    """
    if len(text) > CACHED_TEXT:
        return _parsed(text, source)
    return pickle.loads(_pickled(text, source))


@lru_cache(maxsize=256)
def _pickled(text: str, source: str) -> bytes:
    """The tree as bytes, for callers change what they get."""
    return pickle.dumps(_parsed(text, source), pickle.HIGHEST_PROTOCOL)


def _parsed(text: str, source: str) -> Any:  # noqa: ANN401
    try:
        _check_size(text, source)
        return _Loader(_NamedText(text, source)).get_single_data()
    except yaml.YAMLError as error:
        raise BadInput(f"{source}: not valid YAML: {error}") from error
    except (
        UnicodeEncodeError
    ) as error:  # half a character, as the command line hands on bytes that are no text
        raise BadInput(f"{source}: not a text in UTF-8") from error


def _check_size(text: str, source: str) -> None:
    """Refuse what would become too deep or too large, before it is made."""
    nodes, sizes = 0, {}
    begun: list[tuple[str | None, int]] = []  # anchors of what is open, and nodes before it
    for event in yaml.parse(_NamedText(text, source), Loader=_Base):
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = begun.pop()
            if anchor is not None:
                sizes[anchor] = nodes - before
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, _ in begun):
                raise BadInput(f"{source}: '*{event.anchor}' is part of what it stands for")
            nodes += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.NodeEvent):
            if isinstance(event, yaml.CollectionStartEvent):
                begun.append((event.anchor, nodes))
            nodes += 1
        if len(begun) > MAX_DEPTH or nodes > MAX_NODES:
            what = f"{MAX_DEPTH} levels deep" if nodes <= MAX_NODES else f"{MAX_NODES} values"
            raise BadInput(f"{source}: more than {what}, line {event.start_mark.line + 1}")


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
        found = "nothing: it is empty" if tree is None else shown(tree)
        raise BadInput(f"{source}: a mapping of keys is expected, found {found}")
    return tree


def yaml_text(tree: Any) -> str:  # noqa: ANN401 - what `parse_yaml` returns
    """A plain tree as YAML, its keys in their order; no digit is lost."""
    text: str = yaml.dump(tree, Dumper=_PlainDumper, sort_keys=False)
    return text
