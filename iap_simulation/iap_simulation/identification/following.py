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
from iap_simulation.identification.responses import LinearResponse, correlations, response_of

MAX_DELAY, MAX_LEAD = (
    2.0,
    1.0,
)  # of velocities behind and before their commands that are looked for [s]
CLEAR, NONE = 0.8, 0.4  # correlations of what follows, and of what does not
MARGIN = 0.03  # by which a velocity before its command correlates better than behind it
LEAD_PERIODS, LEAD = 2, 0.05  # by which it is then before it, at least; [s]
SURE_LEAD, LEAVES = 0.1, 3.0  # lead [s] that counts where this much less is left unexplained
MIN_CHECKED, SURE = (
    5.0,
    10.0,
)  # durations of a log in which following is looked for, and is sure [s]
LEAST_PERIOD = 0.02  # of the times at which it is [s]
LEADS = 11  # that are tried
LEAD_LEAVES, TRACE = 1.5, 0.01  # times what the best one leaves, and more, that a smaller lead may
SAME = 0.3  # within which times between velocities and commands are the same [s]
OPPOSITE = 0.5  # share that is explained, and correlation, of what goes the opposite way
LATE = 0.8  # of all channels, of which a note is made; loops of velocity take less than half a second [s]
CLOSE = 0.9  # correlation of a velocity whose gain and delay are known
USUAL_GAINS = (0.55, 1.8)  # of velocities in the unit of their commands
ALIKE = 0.08  # share by which gains differ from each other, and from a ratio of units
FOREIGN = 9.0  # gain, or its inverse, that no vehicle has
MIN_SHIFT = 0.1  # between the delays of two channels that are alike [s]
RATIOS = {
    "km/h": 3.6, "ft/s": 1.0 / 0.3048, "kn": 3600.0 / 1852.0, "mph": 1.0 / 0.44704, "dm/s": 10.0, "cm/s": 100.0,
}  # fmt: skip
SPEEDS = BASE_CHANNELS[:3]
PLANAR = "u_l", "u_m", "w"  # forward, left, and the turn of both


def check_following(log: Log) -> tuple[str, ...]:
    """Refuse a log whose velocities do not follow their commands; returns notes on odd gains and delays.

    What is refused of a log of `SURE` and more is a note of a shorter one.

    Raises:
        BadInput: naming the channels and what explains it.
    """
    if log.t[-1] < MIN_CHECKED:
        return ()
    if log.t[-1] >= SURE:
        return _followed(log)
    try:
        return _followed(log)
    except BadInput as error:
        return (str(error).removeprefix(f"{log.source}: "),)


def _followed(log: Log) -> tuple[str, ...]:
    """Notes of a log's following, see `check_following`."""
    period = max(float(np.median(np.diff(log.t))), LEAST_PERIOD)
    t = np.arange(0.0, log.t[-1], period)
    at = np.clip(np.searchsorted(log.t, t, side="right") - 1, 0, len(log.t) - 1)
    commands, v = log.command[at], log.v[at]
    late, early = round(MAX_DELAY / period), round(MAX_LEAD / period)
    active = [
        CHANNELS.index(each) for each in log.channels if np.ptp(commands[:, CHANNELS.index(each)])
    ]
    moving = [i for i in active if np.ptp(v[:, i])]
    _check_clocks(log, commands[:, moving], v[:, moving], period)
    if {CHANNELS.index(each) for each in PLANAR} <= set(moving):
        _check_heading(log, commands, v, period)
    gains: dict[str, float] = {}
    delays: dict[str, float] = {}
    for i in moving:
        behind = {j: correlations(commands[:, j], v[:, i], 0, late) for j in active}
        answers = {
            j: response_of(
                commands[:, j], v[:, i], max(late // 2, min(late, 2 * int(np.argmax(x))))
            )
            for j, x in behind.items()
        }
        _check_sense(log, i, behind, answers)
        _check_lead(log, i, behind[i], correlations(commands[:, i], v[:, i], -early, -1))
        _check_early(log, commands[:, i], v[:, i], i, period)
        if float(behind[i].max()) > CLOSE and answers[i].gain > 0.0:
            gains[CHANNELS[i]] = answers[i].gain
            delays[CHANNELS[i]] = int(np.argmax(behind[i])) * period
    return (*_odd_gains(log, gains), *_odd_delays(delays, period))


def _check_clocks(log: Log, commands: Array, v: Array, period: float) -> None:
    """Refuse velocities (K, n) that follow commands (K, n) by a time that no vehicle takes, all by the same."""
    most, late = len(v) // 2, round(MAX_DELAY / period)
    found = []
    for u, x in zip(commands.T, v.T, strict=True):
        values = correlations(u, x, -most, most)
        lag = int(np.argmax(values)) - most
        if -round(MAX_LEAD / period) <= lag <= late or values[lag + most] < OPPOSITE:
            continue
        shift = lag - late // 4  # so that the response lies in the second behind it
        at, after = (u[max(0, -shift) :], x[max(0, shift) :])
        count = min(len(at), len(after))
        far = response_of(at[:count], after[:count], late // 2)
        near = response_of(u, x, late)
        if far.explained > CLEAR and 1.0 - near.explained > LEAVES * (1.0 - far.explained):
            found.append(lag * period)
    if len(found) < max(1, min(2, commands.shape[1])) or np.ptp(found) > SAME:
        return
    time = float(np.median(found))
    raise BadInput(
        f"{log.source}: its velocities come {abs(time):.2f} s {'after' if time > 0.0 else 'before'} their commands:"
        " are both by clocks of their own? Shift the times of one of them by that"
    )


def _check_heading(log: Log, commands: Array, v: Array, period: float) -> None:
    r"""Refuse horizontal velocities along the world's axes with commands along the heading's, or the other way round.

    With :math:`\psi = \int \omega`, velocities :math:`V = v_l + i v_m` of the world are :math:`e^{i \psi}` times those
    of the heading, but for the heading at the begin. They follow :math:`U` if :math:`e^{-i \psi} V` does.
    """
    forward, left, turn = (CHANNELS.index(each) for each in PLANAR)
    U, V = (x[:, forward] + 1j * x[:, left] for x in (commands, v))
    psi = np.cumsum(v[:, turn]) * period
    as_is = _followed_share(U, V, round(MAX_DELAY / period))
    for sense, which in ((-1.0, "velocities"), (1.0, "commands")):
        turned = _followed_share(U, np.exp(1j * sense * psi) * V, round(MAX_DELAY / period))
        if turned > CLEAR**2 and 1.0 - as_is > LEAVES * (1.0 - turned):
            raise BadInput(
                f"{log.source}: channels {PLANAR[0]} and {PLANAR[1]} follow their commands once the integral of"
                f" {PLANAR[2]} is taken out of them: are {which} along the world's axes? Turn them to the heading's"
            )


def _followed_share(U: Array, V: Array, late: int) -> float:
    """Largest share of a motion (K,) that one older by up to some samples explains, turned by any angle."""
    size = float(np.sum(np.abs(U) ** 2) * np.sum(np.abs(V) ** 2))
    most = max(abs(np.vdot(U[: len(U) - k], V[k:])) for k in range(late + 1))
    return float(most**2) / max(size, 1e-12)


def _check_early(log: Log, u: Array, x: Array, i: int, period: float) -> None:
    """Refuse a velocity (K,) that begins to move before its command (K,) does, however late it comes to it."""
    longest = round(0.5 * MAX_DELAY / period)
    leads = np.unique(np.linspace(0, round(MAX_LEAD / period), LEADS).round().astype(int))
    answers = [response_of(u, x, longest, int(lead), int(leads[-1])) for lead in leads]
    left = np.array([1.0 - each.explained for each in answers])
    least = float(left.min())
    best = int(np.flatnonzero(left < LEAD_LEAVES * least + TRACE)[0])
    is_better = left[0] > LEAVES * left[best] and answers[best].explained > CLEAR
    if is_better and answers[best].gain > USUAL_GAINS[0] and leads[best] >= LEAD_PERIODS:
        raise BadInput(
            f"{log.source}: channel {CHANNELS[i]} begins to move up to {leads[best] * period:.2f} s before its command:"
            " are commands and velocities exchanged, or is one of them stamped late?"
        )


def _check_lead(log: Log, i: int, behind: Array, before: Array) -> None:
    """Refuse a velocity that comes before its command, by its correlations behind and before it."""
    period = max(float(np.median(np.diff(log.t))), LEAST_PERIOD)
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
    values = correlations(free_run, v, -most, most)
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


def _odd_delays(delays: dict[str, float], period: float) -> list[str]:
    """Notes where all channels come late, or one of the two horizontal ones later than the other."""
    if delays and min(delays.values()) > LATE:
        return [
            f"every velocity follows its command {min(delays.values()):.2g} s late or more, as no loop of velocities"
            " does: are both by clocks of their own?"
        ]
    a, b = (delays.get(name) for name in SPEEDS[:2])
    if a is None or b is None or abs(a - b) < max(MIN_SHIFT, 3.0 * period):
        return []
    late, early = (SPEEDS[0], SPEEDS[1]) if a > b else (SPEEDS[1], SPEEDS[0])
    return [
        f"{late} follows its command {abs(a - b):.2g} s later than {early}: if the vehicle is alike both ways, its"
        " column is stamped late"
    ]


def _check_sense(
    log: Log, i: int, behind: dict[int, Array], answers: dict[int, LinearResponse]
) -> None:
    """Refuse a velocity that follows another channel's command, or its own the other way.

    Args:
        log: of the channels.
        i: number of the velocity.
        behind: its correlations with each command that is older.
        answers: its responses to each command.
    """
    highest = {j: float(values.max()) for j, values in behind.items()}
    left = {j: 1.0 - answer.explained for j, answer in answers.items()}
    other = max(highest, key=lambda j: highest[j])
    best = min(left, key=lambda j: left[j])
    is_better = left[i] > max(LEAVES * left[best], 1.0 - CLEAR)
    if highest[i] < NONE and highest[other] > CLEAR:
        best = other
    if best != i and highest[best] > CLEAR and (highest[i] < NONE or is_better):
        raise BadInput(
            f"{log.source}: channel {CHANNELS[i]} follows {CHANNELS[best]}_ref, not {CHANNELS[i]}_ref: are columns"
            " exchanged, or their axes turned?"
        )
    lowest = float(behind[i].min())
    is_first = highest[i] < -lowest or np.argmin(behind[i]) < np.argmax(behind[i])
    is_opposite = (
        answers[i].explained > OPPOSITE
        and answers[i].gain < -USUAL_GAINS[0]
        and lowest < -OPPOSITE
    )
    if (highest[i] < NONE and lowest < -CLEAR) or (is_opposite and is_first):
        raise BadInput(
            f"{log.source}: channel {CHANNELS[i]} goes the opposite way of {CHANNELS[i]}_ref: an axis of another sense"
            " (right for left, down for up)? Change the sign of one of them"
        )
