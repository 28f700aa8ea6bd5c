# SPDX-License-Identifier: BSD-3-Clause
"""Ranges that never change: measured ones differ by centimetres of noise, and by the tag's motion."""

from collections.abc import Sequence

import numpy as np

from iap_description.errors import BadInput
from iap_estimation.virpo.messages import Ranges

MANY, CHANGED = 50, 0.5  # ranges of which some differ by noise; change of others in a motion [m]


def check_alive(rounds: Sequence[Ranges], names: Sequence[str], source: str) -> None:
    """Refuse ranges to an anchor that say one number in all, while others change or with all of them.

    Args:
        rounds: in order of time.
        names: of the anchors, by their numbers.
        source: to name in errors.

    Raises:
        BadInput: naming the anchors and their number.
    """
    if not rounds:
        return
    anchors, ranges = (
        np.concatenate([getattr(r, n) for r in rounds]) for n in ("anchors", "ranges")
    )
    of = {int(one): ranges[anchors == one] for one in np.unique(anchors)}
    dead = [one for one, d in of.items() if len(d) >= MANY and not np.ptp(d)]
    if dead and (len(dead) == len(of) or max(float(np.ptp(d)) for d in of.values()) > CHANGED):
        listed = ", ".join(f"{of[one][0]:.3g} m to {names[one]}" for one in dead)
        raise BadInput(
            f"{source}: ranges are one number in all: {listed}: another field, or a device that stopped; leave it out"
            " of key 'anchors', or correct key 'ranges'"
        )
