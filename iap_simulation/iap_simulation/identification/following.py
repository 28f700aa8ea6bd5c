# SPDX-License-Identifier: BSD-3-Clause
r"""Velocities against their commands: whether they follow them, by how much, and when.

With :math:`\rho_{ij}(\tau)` the correlation of velocity i with command j that is :math:`\tau` older, one that follows
another channel's, goes the opposite way, or comes before its command says that columns are exchanged, that an axis has
another sense, or that clocks are apart. The steady gain of a velocity that follows is the sum of the
weights by which the last second of its command explains it. Speeds whose gains are all the same ratio of two units are
in another unit.
"""

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_physics.identified.dynamics import CHANNELS
from iap_simulation.identification.log import BASE_CHANNELS, Log

MAX_DELAY, MAX_LEAD = (
    2.0,
    1.0,
)  # of velocities behind and before their commands that are looked for [s]
CLEAR, NONE = 0.8, 0.4  # correlations of what follows, and of what does not
MARGIN = 0.03  # by which a velocity before its command correlates better than behind it
LEAD_PERIODS, LEAD = 2, 0.05  # by which it is then before it, at least; [s]
SURE_LEAD, LEAVES = 0.1, 3.0  # lead [s] that counts where this much less is left unexplained
MIN_CHECKED = 10.0  # duration of a log in which following is looked for [s]
CLOSE = 0.9  # correlation of a velocity whose gain and delay are known
USUAL_GAINS = (0.55, 1.8)  # of velocities in the unit of their commands
TAPS, LEAST_WEIGHT = 12, 1e-2  # of a command's past, and of their singular values
ALIKE = 0.08  # share by which gains differ from each other, and from a ratio of units
FOREIGN = 9.0  # gain, or its inverse, that no vehicle has
MIN_SHIFT = 0.1  # between the delays of two channels that are alike [s]
RATIOS = {
    "km/h": 3.6, "ft/s": 1.0 / 0.3048, "kn": 3600.0 / 1852.0, "mph": 1.0 / 0.44704, "dm/s": 10.0, "cm/s": 100.0,
}  # fmt: skip
SPEEDS = BASE_CHANNELS[:3]


def check_following(log: Log) -> tuple[str, ...]:
    """Refuse a log whose velocities do not follow their commands; returns notes on odd gains and delays.

    Raises:
        BadInput: naming the channels and what explains it.
    """
    period = float(np.median(np.diff(log.t)))
    if log.t[-1] < MIN_CHECKED:
        return ()
    t = np.arange(0.0, log.t[-1], period)
    at = np.clip(np.searchsorted(log.t, t, side="right") - 1, 0, len(log.t) - 1)
    commands, v = log.command[at], log.v[at]
    late, early = round(MAX_DELAY / period), round(MAX_LEAD / period)
    active = [
        CHANNELS.index(each) for each in log.channels if np.ptp(commands[:, CHANNELS.index(each)])
    ]
    gains: dict[str, float] = {}
    delays: dict[str, float] = {}
    for i in active:
        if not np.ptp(v[:, i]):
            continue
        behind = {j: _correlations(commands[:, j], v[:, i], 0, late) for j in active}
        _check_sense(log, i, behind)
        _check_lead(log, i, behind[i], _correlations(commands[:, i], v[:, i], -early, -1))
        if float(behind[i].max()) > CLOSE:
            lag = int(np.argmax(behind[i]))
            gains[CHANNELS[i]] = _gain(commands[:, i], v[:, i], late // 2)
            delays[CHANNELS[i]] = lag * period
    return (*_odd_gains(log, gains), *_odd_delays(delays, period))


def _check_lead(log: Log, i: int, behind: Array, before: Array) -> None:
    """Refuse a velocity that comes before its command, by its correlations behind and before it."""
    period = float(np.median(np.diff(log.t)))
    lead, best = (len(before) - int(np.argmax(before))) * period, float(before.max())
    is_before = best > max(CLEAR, float(behind.max()) + MARGIN)
    is_sure = best > CLEAR and 1.0 - behind.max() > LEAVES * (1.0 - best)
    if (is_before and lead > max(LEAD, LEAD_PERIODS * period)) or (is_sure and lead > SURE_LEAD):
        raise BadInput(
            f"{log.source}: channel {CHANNELS[i]} moves {lead:.2f} s before its command: are commands and"
            " velocities exchanged, or is one of them stamped late?"
        )


def shift_of(t: Array, free_run: Array, v: Array) -> float:
    """Time by which a velocity (K,) comes later than its free run (K,) [s]; zero where that is not clear."""
    period = float(np.median(np.diff(t)))
    most = round(MAX_LEAD / period)
    if t[-1] - t[0] < MIN_CHECKED or not (np.ptp(v) and np.ptp(free_run)):
        return 0.0
    values = _correlations(free_run, v, -most, most)
    best = int(np.argmax(values))
    shift = (best - most) * period
    is_clear = values[best] > CLOSE and 1.0 - values[most] > LEAVES * (1.0 - values[best])
    return shift if is_clear and abs(shift) > max(MIN_SHIFT, 3.0 * period) else 0.0


def _odd_gains(log: Log, gains: dict[str, float]) -> list[str]:
    """Notes on gains that are far from one.

    Raises:
        BadInput: they are those of another unit, and the file names none.
    """
    odd = {
        name: gain for name, gain in gains.items() if not USUAL_GAINS[0] < gain < USUAL_GAINS[1]
    }
    speeds = [gains[name] for name in SPEEDS if name in gains]
    middle = float(np.median(speeds)) if speeds else 1.0
    are_alike = len(speeds) > 1 and all(abs(each / middle - 1.0) < ALIKE for each in speeds)
    notes = []
    for name, gain in odd.items():
        size, unit = _ratio(max(gain, 1.0 / gain), is_speed=name in SPEEDS)
        which = name if gain > 1.0 else f"{name}_ref"
        text = f"{name} is {gain:.3g} times its command: is {which} in {unit}?"
        text += f" '{which} [{unit}]' in the header takes it so"
        is_unit = abs(max(gain, 1.0 / gain) / size - 1.0) < ALIKE
        if not log.in_units and (
            (name in SPEEDS and are_alike and is_unit) or not 1.0 / FOREIGN < gain < FOREIGN
        ):
            raise BadInput(f"{log.source}: channel {text}, '{name} [{_own(name)}]' as it stands")
        if is_unit:
            notes.append(text)
        elif not log.in_units:
            notes.append(f"{name} is {gain:.3g} times its command: are both in one unit?")
    return notes


def _own(name: str) -> str:
    return "m/s" if name in SPEEDS else "rad/s"


def _ratio(gain: float, *, is_speed: bool) -> tuple[float, str]:
    """The ratio of units that a gain above one is closest to, and the unit."""
    ratios = RATIOS if is_speed else {"deg/s": 180.0 / np.pi, "rpm": 30.0 / np.pi}
    unit = min(ratios, key=lambda each: abs(np.log(gain / ratios[each])))
    return ratios[unit], unit


def _gain(u: Array, x: Array, longest: int) -> float:
    """Steady gain of a velocity (K,) by its command (K,): the sum of the weights of its past, up to so many samples."""
    lags = np.unique(np.linspace(0, longest, TAPS).round().astype(int))
    A = np.stack([u[longest - lag : len(u) - lag] for lag in lags], axis=1)
    y = x[longest:]
    weights = np.linalg.lstsq(A - A.mean(axis=0), y - y.mean(), rcond=LEAST_WEIGHT)[0]
    return float(weights.sum())


def _odd_delays(delays: dict[str, float], period: float) -> list[str]:
    """Notes where one of the two horizontal channels comes later than the other."""
    a, b = (delays.get(name) for name in SPEEDS[:2])
    if a is None or b is None or abs(a - b) < max(MIN_SHIFT, 3.0 * period):
        return []
    late, early = (SPEEDS[0], SPEEDS[1]) if a > b else (SPEEDS[1], SPEEDS[0])
    return [
        f"{late} follows its command {abs(a - b):.2g} s later than {early}: if the vehicle is alike both ways, its"
        " column is stamped late"
    ]


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
