# SPDX-License-Identifier: BSD-3-Clause
"""Damage to bytes, texts and trees, the same for the same generator."""

import copy
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

import yaml

from iap_description.config.bounds import LARGEST_NUMBER, LEAST_POSITIVE, MAX_COUNT

Tree = Any
FLOATS = (float("nan"), float("inf"), -1e30, 1e30, 1e9, -1.0, 0.0, 1e-30)
NUMBERS = (0, 1, 0xFF, 2**15, 2**16 - 1, 2**31 - 1, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)
VALUES: tuple[object, ...] = (
    None, True, 0, 1, -1, 3, 1e-300, 1e300, -1e308, 2**70, float("nan"), float("inf"), "", "x", "ä\u2028b", "a\0b",
    "a\nb", "a[/b]", "$\\a$", "\uff11", "/abs", "../../out", "a**b", "n" * 300, "9" * 5000, [], {}, [1, 2], [[]],
    {"a": {}}, {1: 2}, [None] * 4,
    [1.0, 2.0, 3.0], [0.0] * 4, [0.0] * 6, "hover", "three_star", "f450", "star_999999999999", "stereo",
    "no_such_module:Class", "json:JSONDecoder", ".", "..", "spherical", "mono8", "euroc",
)  # fmt: skip
WORDS = (
    "2024-13-45", "2024-01-01", "0x_", "0b_", "1_000", "9" * 5000, "!!int x", "!!float ''", "!!bool q", "!!map [1]",
    "!!timestamp z", "!!binary '*'", "!!set {a, b}", "!!omap [a]", "!!python/object:os.system {}", "!<tag:x> 1",
    "&a [*a]", "*a", "&a", "{", "}", "[", "]", "[" * 60, "{a: " * 60, "[" * 5000, "- " * 200, ": ", "? ", "- ", "\t",
    "%YAML 9.9\n", "|", ">", "...", "---", "#", "'", '"', "\\", "<<: {a: 1}", "<<: *a", "~", ".nan", "-.inf", "1e999",
    "\x00", "\x07", "\ufeff",
    "&b [x,x,x,x,x,x,x,x]\nq: &c [*b,*b,*b,*b,*b,*b]\nr: &d [*c,*c,*c,*c,*c,*c]\ns: [*d,*d,*d,*d,*d]\n",
)  # fmt: skip
# Of what is right, and takes days; more is refused.
MUCH, LONG = (100_000, MAX_COUNT), (100.0, 2.0**31)
WORK: Mapping[str, tuple[float, float]] = {
    "episodes": MUCH, "seeds": MUCH, "count": MUCH, "steps": MUCH, "updates": MUCH, "cases": MUCH, "workers": MUCH,
    "cluster": MUCH, "duration": LONG, "seconds": LONG,
}  # fmt: skip
"""Numbers between which options and keys of these names make a command work for days."""
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def damaged_bytes(data: bytes, rng: Random, *, most: int = 4) -> bytes:
    """Some bytes changed, taken out, repeated or cut off, or numbers that become lengths."""
    out = bytearray(data)
    for _ in range(rng.randint(1, most)):
        if out:
            rng.choice(_BYTES)(out, rng.randrange(len(out)), rng)
    return bytes(out)


def _flip(out: bytearray, at: int, rng: Random) -> None:
    out[at] ^= 1 << rng.randrange(8)


def _replace(out: bytearray, at: int, rng: Random) -> None:
    out[at] = rng.randrange(256)


def _number(out: bytearray, at: int, rng: Random) -> None:
    size = rng.choice((2, 4, 8))
    number = rng.choice((*NUMBERS, len(out), rng.randrange(2**32))) % 256**size
    out[at : at + size] = number.to_bytes(size, rng.choice(("little", "big")))


def _float(out: bytearray, at: int, rng: Random) -> None:
    """A number of 4 or 8 bytes, at a place that is a multiple of 4, as most are."""
    data = struct.pack(rng.choice(("<f", "<d")), rng.choice(FLOATS))
    at -= at % 4
    if at + len(data) <= len(out):
        out[at : at + len(data)] = data


def _run(out: bytearray, at: int, rng: Random) -> None:
    size = rng.randint(1, 64)
    out[at : at + size] = bytes([rng.choice((0, 0xFF, 0x20, 0x41))]) * size


def _cut_out(out: bytearray, at: int, rng: Random) -> None:
    del out[at : at + rng.randint(1, 200)]


def _repeat(out: bytearray, at: int, rng: Random) -> None:
    out[at:at] = out[at : at + rng.randint(1, 200)]


def _insert(out: bytearray, at: int, rng: Random) -> None:
    out[at:at] = rng.randbytes(rng.randint(1, 16))


def _truncate(out: bytearray, at: int, rng: Random) -> None:
    del out[at:]


_BYTES: tuple[Callable[[bytearray, int, Random], None], ...] = (
    _flip, _flip, _replace, _replace, _number, _number, _float, _float, _run, _cut_out, _repeat, _insert, _truncate,
)  # fmt: skip


def damaged_text(text: str, rng: Random) -> bytes:
    """Words of YAML and tables where none belong, or damaged bytes."""
    if rng.random() < 0.3:
        return damaged_bytes(text.encode(), rng)
    for _ in range(rng.randint(1, 3)):
        marks = [i for i, c in enumerate(text) if c in ":,[\n- "] or [0]
        at = rng.choice(marks) + 1
        end = at if rng.random() < 0.5 else min(len(text), at + rng.randint(1, 12))
        text = text[:at] + rng.choice(WORDS) + text[end:]
    return text.encode(errors="surrogatepass")


def is_long(name: str, word: str) -> bool:
    """True if an option or a key would make a command work for days, see `WORK`."""
    least, most = WORK.get(name, (math.inf, math.inf))
    try:
        return least < float(word) <= most
    except ValueError:
        return False


def damaged_tree(tree: Tree, rng: Random) -> Tree:
    """Values replaced, keys taken out, added or renamed."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randint(1, 3)):
        parent, key = _place(tree, rng)
        if parent is None:
            return _any_value(rng)
        what = rng.random()
        if what < 0.7:
            _replace_value(parent, key, _any_value(rng))
        elif what < 0.8:
            del parent[key]
        elif isinstance(parent, dict):
            parent[rng.choice(("x", 1, "scenario", "vehicles", "tool", None))] = parent.pop(key)
        else:
            parent.append(parent[key])
    return tree


def detuned_tree(tree: Tree, rng: Random) -> Tree:
    """One or two values that stay of their kind: other numbers, texts, flags, or longer and shorter lists."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randint(1, 2)):
        leaves = list(_leaves(tree))
        if not leaves:
            return tree
        parent, key = rng.choice(leaves)
        texts = [p[k] for p, k in leaves if isinstance(p[k], str)]
        _replace_value(parent, key, other_value(parent[key], rng, texts))
    return tree


def _replace_value(parent: Any, key: Any, value: object) -> None:  # noqa: ANN401 - YAML
    """Put a value into a container, unless it would make a command work for days."""
    if not is_long(str(key), str(value)):
        parent[key] = value


def _leaves(tree: Tree) -> Iterator[tuple[Any, Any]]:
    """Every container with each key that holds no mapping."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(value, dict | list):
            yield from _leaves(value)
        if not isinstance(value, dict):
            yield tree, key


def other_value(value: object, rng: Random, texts: Sequence[str] = ()) -> object:
    """Another value of the same kind; a text may become one of `texts`."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return _other_number(value, rng)
    if isinstance(value, list):
        return rng.choice((value[:-1], value + value[-1:], value[::-1], [], value * 1000))
    if isinstance(value, str):
        return rng.choice([*texts, *(each for each in VALUES if isinstance(each, str))])
    return _any_value(rng)


def _any_value(rng: Random) -> object:
    """One of `VALUES`, of its own: what a tree holds is damaged further."""
    return copy.deepcopy(rng.choice(VALUES))


def _other_number(value: float, rng: Random) -> float:
    """A number of the same kind, from a little off to absurd."""
    if isinstance(value, int):
        return rng.choice((-value, 0, 1, value + 1, 10 * value, 10**6, 10**9, 2**31, 2**63, 2**64))
    factor = rng.choice((-1.0, 0.0, 0.5, 1.01, 3.0, 10.0 ** rng.randint(-12, 12)))
    bound = rng.choice((LARGEST_NUMBER, -LARGEST_NUMBER, LEAST_POSITIVE))  # of what is accepted
    return rng.choice((factor * value, factor, 10.0 ** rng.randint(-30, 15), value + 1.0, bound))


def _place(tree: Tree, rng: Random) -> tuple[Any, Any]:
    """A container within a tree and a key of it; None for a tree that is or has become a single value."""
    parent, key = None, None
    while isinstance(tree, dict | list) and tree and (parent is None or rng.random() < 0.75):
        parent = tree
        key = rng.choice(list(tree)) if isinstance(tree, dict) else rng.randrange(len(tree))
        tree = parent[key]
    return parent, key


def paths(tree: Tree, prefix: str = "") -> list[str]:
    """Dotted paths of all keys, as ``--set`` takes them."""
    paths_here = []
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        paths_here.append(f"{prefix}{key}")
        if isinstance(value, dict | list):
            paths_here += paths(value, f"{prefix}{key}.")
    return paths_here


def yaml_bytes(tree: Tree) -> bytes:
    """A tree as YAML."""
    return yaml.dump(tree, Dumper=_DUMPER, allow_unicode=True, sort_keys=False).encode()
