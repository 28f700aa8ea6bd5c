# SPDX-License-Identifier: BSD-3-Clause
"""Names of an observation's terms, as tasks of all kinds check them."""

from collections.abc import Collection

LARGEST = 100.0  # that a number is clipped to, once divided by its term's scale
Layout = tuple[
    tuple[str, int, float], ...
]  # of an observation: terms, their numbers, and by what they are divided


def known_terms(observation: dict[str, float], terms: Collection[str]) -> dict[str, float]:
    """An observation's terms, by what each is divided, if all of them are known.

    Raises:
        ValueError: one is not.
    """
    for name in observation:
        if name not in terms:
            raise ValueError(f"no term '{name}': choose {', '.join(terms)}")
    return observation
