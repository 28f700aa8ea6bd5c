# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of bodies that go through each other for a while.

What was found out about MuJoCo 4.0 and is relied on here: the pairs of bodies that it leaves out stand in the model,
sorted by their signatures, and may be changed between steps.
"""

from typing import Any

from iap_description.errors import IapError

Pairs = frozenset[frozenset[int]]
MAX_PASSING_PAIRS = 32  # pairs at a time
UNUSED_SIGNATURE = 2**31 - 1  # signature of a pair that there is not, behind all others


def reserve(spec: Any, body: str) -> None:  # noqa: ANN401
    """Make room for pairs in a specification that has this body, by pairs with the world, which has no geoms."""
    for _ in range(MAX_PASSING_PAIRS):
        spec.add_exclude(bodyname1="world", bodyname2=body)


def clear(model: Any) -> None:  # noqa: ANN401
    """Let no pairs pass but those that always do."""
    _write(model, _lasting(model))


class PassingPairs:
    """The bodies of a world that pass each other.

    Args:
        model: MuJoCo's, with room for pairs.
    """

    def __init__(self, model: Any) -> None:  # noqa: ANN401
        self._model, self._lasting = model, _lasting(model)
        self.pairs: Pairs = frozenset()

    def let(self, bodies: tuple[int, int], *, passes: bool) -> None:
        """Let two of MuJoCo's bodies pass each other, or meet again.

        Raises:
            IapError: there is no room left.
        """
        pair = frozenset(bodies)
        pairs = self.pairs | {pair} if passes else self.pairs - {pair}
        if len(pairs) > MAX_PASSING_PAIRS:
            raise IapError(f"let_pass: no more than {MAX_PASSING_PAIRS} pairs pass each other")
        self.hold(pairs)

    def hold(self, pairs: Pairs) -> None:
        """Let these pass each other, and no others."""
        self.pairs = pairs
        _write(self._model, [*self._lasting, *(_signature(*sorted(pair)) for pair in pairs)])


def _signature(a: int, b: int) -> int:
    return (a << 16) + b


def _lasting(model: Any) -> list[int]:  # noqa: ANN401
    """Signatures of pairs of two bodies neither of which is the world."""
    return [s for s in model.exclude_signature.tolist() if s >> 16 and s != UNUSED_SIGNATURE]


def _write(model: Any, signatures: list[int]) -> None:  # noqa: ANN401
    free = [UNUSED_SIGNATURE] * (model.nexclude - len(signatures))
    model.exclude_signature[:] = sorted(signatures) + free
