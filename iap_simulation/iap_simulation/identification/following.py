# SPDX-License-Identifier: BSD-3-Clause
r"""Whether measured velocities follow the commands that a log says are theirs.

With :math:`\rho_{ij}(\tau)` the correlation of velocity i with command j that is :math:`\tau` older: a velocity
follows its command after a delay. One that follows another channel's, goes the opposite way, or comes before its
command says that columns are exchanged, that an axis has another sense, or that clocks are apart.
"""

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_physics.identified.dynamics import CHANNELS
from iap_simulation.identification.log import Log

LATEST, EARLIEST = 2.0, 1.0  # delays that are looked at [s]
CLEAR, NONE = 0.8, 0.4  # correlations of what follows, and of what does not
MARGIN = 0.03  # by which a velocity before its command correlates better than behind it
LEAD_PERIODS, LEAD = 2, 0.05  # by which it is then before it, at least; [s]
SHORTEST = 10.0  # logs that are looked at [s]


def check_following(log: Log) -> None:
    """Refuse a log whose velocities do not follow their commands, but others, or go before them.

    Raises:
        BadInput: naming the channels and what explains it.
    """
    period = float(np.median(np.diff(log.t)))
    if log.t[-1] < SHORTEST:
        return
    t = np.arange(0.0, log.t[-1], period)
    at = np.clip(np.searchsorted(log.t, t, side="right") - 1, 0, len(log.t) - 1)
    commands, v = log.command[at], log.v[at]
    late, early = round(LATEST / period), round(EARLIEST / period)
    active = [
        CHANNELS.index(each) for each in log.channels if np.ptp(commands[:, CHANNELS.index(each)])
    ]
    for i in active:
        if not np.ptp(v[:, i]):
            continue
        behind = {j: _correlations(commands[:, j], v[:, i], 0, late) for j in active}
        _check_sense(log, i, behind)
        before = _correlations(commands[:, i], v[:, i], -early, -1)
        lead = (early - int(np.argmax(before))) * period
        is_before = float(before.max()) > max(CLEAR, float(behind[i].max()) + MARGIN)
        if is_before and lead > max(LEAD, LEAD_PERIODS * period):
            raise BadInput(
                f"{log.source}: channel {CHANNELS[i]} moves {lead:.2f} s before its command: are commands and"
                " velocities exchanged, or is one of them stamped late?"
            )


def _check_sense(log: Log, i: int, behind: dict[int, Array]) -> None:
    """Refuse a velocity that follows another channel's command, or its own the other way."""
    highest = {j: float(values.max()) for j, values in behind.items()}
    other = max(highest, key=lambda j: highest[j])
    if highest[i] < NONE and highest[other] > CLEAR:
        raise BadInput(
            f"{log.source}: channel {CHANNELS[i]} follows {CHANNELS[other]}_ref, not {CHANNELS[i]}_ref: are columns"
            " exchanged, or their axes turned?"
        )
    if highest[i] < NONE and float(behind[i].min()) < -CLEAR:
        raise BadInput(
            f"{log.source}: channel {CHANNELS[i]} goes the opposite way of {CHANNELS[i]}_ref: an axis of another sense"
            " (right for left, down for up)? Change the sign of one of them"
        )


def _correlations(command: Array, v: Array, first: int, last: int) -> Array:
    """Correlations (last - first + 1,) of a velocity (K,) with a command that is so many samples older."""
    out = []
    for lag in range(first, last + 1):
        a = command[: len(command) - lag] if lag >= 0 else command[-lag:]
        b = v[lag:] if lag >= 0 else v[:lag]
        a, b = a - a.mean(), b - b.mean()
        size = float(np.linalg.norm(a) * np.linalg.norm(b))
        out.append(float(a @ b) / size if size > 0.0 else 0.0)
    return np.array(out)
