# SPDX-License-Identifier: BSD-3-Clause
"""Names of an observation's terms, as tasks of all kinds check them."""

from collections.abc import Collection


def known_terms(observation: dict[str, float], terms: Collection[str]) -> dict[str, float]:
    """An observation's terms, by what each is divided, if all of them are known.

    Raises:
        ValueError: one is not.
    """
    for name in observation:
        if name not in terms:
            raise ValueError(f"no term '{name}': choose {', '.join(terms)}")
    return observation
