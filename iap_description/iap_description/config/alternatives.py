# SPDX-License-Identifier: BSD-3-Clause
"""Names that a user may have meant by one that does not exist."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

SIMILARITY = 0.6  # least ratio of difflib at which a name is offered
COUNT = 3  # names that are offered at most
NEARLY = 0.8  # ratio from which on a name that has no effect is taken for a misspelt one


def near(name: str, known: Iterable[str], *, before: str = "") -> str:
    """The question whether a name that is like another one was meant; empty where none is.

    Args:
        name: that is unknown.
        known: all that there are.
        before: what is typed before each of them.
    """
    small: dict[str, list[str]] = {}  # letters' case counts for no likeness
    for each in dict.fromkeys(known):
        small.setdefault(each.lower(), []).append(each)
    like = get_close_matches(name.lower(), small, n=COUNT, cutoff=SIMILARITY)
    names = [before + each for letters in like for each in small[letters]]
    return question(names)


def question(names: Sequence[str]) -> str:
    """The question whether one of some names was meant; empty without them."""
    return f"did you mean {' or '.join(names)}?" if names else ""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that a misspelt one stands for: nearly like it, or of the same letters; None where there is none."""
    names = sorted(known)
    same_letters = [each for each in names if sorted(each) == sorted(name)]
    return next(iter(same_letters or get_close_matches(name, names, n=1, cutoff=NEARLY)), None)


def alternatives(name: str, known: Iterable[str]) -> str:
    """Names to type in place of an unknown one: those that are like it, or else all."""
    names = list(dict.fromkeys(known))
    return near(name, names) or f"choose {', '.join(names)}"
