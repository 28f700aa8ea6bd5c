# SPDX-License-Identifier: BSD-3-Clause
"""Second-order channels fitted to logs, and what is offered of a channel whose command leaves little trace.

A free run of a channel is fitted by least squares. Where commands are small beside what moves the vehicle otherwise
(wind, drift), such a fit follows the disturbance: parameters run to their bounds, and other flights are predicted worse
than by zero. More data make it no better. So each channel is looked at for its excitation: whether parameters lie at
bounds, the interval of the gain leaves zero out, and the command explains a share of the motion.

A poorly excited channel has several candidates: the fit of all logs, that of each log, a critically damped one, and no
motion. The held-out logs say which one predicts best. It is offered if it is better by `MIN_GAIN` than the fit of all
logs, or if that one falls behind no motion. This is a choice among few by flights that none was fitted to, and it is
said. Well excited channels have no choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_physics.identified.dynamics import CHANNELS
from iap_physics.identified.plant_file import Channel
from iap_physics.identified.second_order import response
from iap_simulation.identification.following import shift_of
from iap_simulation.identification.least_squares import Fit, fitted
from iap_simulation.identification.log import Log
from iap_simulation.identification.offsets import offset_of
from iap_simulation.identification.settings import SecondOrderSettings

SCALE = np.array([1.0, 5.0, 1.0, 0.1])  # of gain, frequency, damping, dead time
KEYS = tuple(Channel.model_fields)  # gain, frequency, damping, delay
MIN_EXPLAINED = 0.2  # share of a channel's mean square that a well excited one explains
CRITICAL = 1e-6  # width on both sides of a critical damping, for a search between bounds
MIN_GAIN = (
    0.05  # of error on held-out logs, by which another fit must be better than that of all logs
)
OFFSET_REMEDY = "fits go without it, errors of held-out logs count it: correct the column"
SPEEDS = CHANNELS[:3]
ROUNDS = 5  # of fits and offsets
OF_MOTION = 0.15  # share of a channel's deviation that an offset comes to, at least
AT_BOUND = 1e-3  # of the width between bounds, within which a parameter lies at one
Bounds = tuple[Array, Array]


@dataclass(frozen=True)
class ChannelFit:
    """The fit of a channel that is offered.

    Attributes:
        fit: its parameters.
        notes: what is to be known of it, as sentences.
    """

    fit: Fit
    notes: tuple[str, ...] = ()


class Candidate(NamedTuple):
    """A fit that may be offered.

    Attributes:
        name: of it, for the user.
        fit: its parameters.
    """

    name: str
    fit: Fit


def bounds_of(settings: SecondOrderSettings) -> Bounds:
    """Lowest and highest parameters (4,)."""
    low, high = (np.array([getattr(settings, key)[end] for key in KEYS]) for end in (0, 1))
    return low, high


def fit_channel(
    logs: Sequence[Log],
    channel: str,
    settings: SecondOrderSettings,
    steps: int,
    *,
    bounds: Bounds | None = None,
) -> Fit:
    """Parameters (4,) of a channel, the best of what several starts lead to.

    Args:
        logs: that are fitted.
        channel: its name.
        settings: starts and bounds of the search.
        steps: evaluations at most.
        bounds: in place of those of the settings.
    """
    i = CHANNELS.index(channel)
    low, high = bounds or bounds_of(settings)

    def residuals(row: Array) -> Array:
        return np.concatenate([_errors(row, log, i) for log in logs])

    starts = (np.array([1.0, frequency, 0.8, delay]) for frequency, delay in settings.starts)
    fits = [
        fitted(residuals, np.clip(start, low, high), scale=SCALE, bounds=(low, high), steps=steps)
        for start in starts
    ]
    return min(fits, key=lambda fit: fit.cost)


def _errors(row: Array, log: Log, i: int) -> Array:
    return ((run_channel(row, log, i) - log.v[:, i]) * log.sound[:, i])[1:]


def run_channel(row: Array, log: Log, i: int) -> Array:
    """Free run (K,) of a channel from a log's first sample."""
    return np.asarray(response(row, log.t, log.command[:, i].copy(), log.v[0, i], 0.0))


def free_run_of_channels(rows: Array, log: Log) -> Array:
    """Free run (K, 7) of channels (7, 4); zeros where a log has none."""
    out = np.zeros(log.v.shape)
    for channel in log.channels:
        i = CHANNELS.index(channel)
        out[:, i] = run_channel(rows[i], log, i)
    return out


def offered_fit(
    logs: Sequence[Log],
    held_out: Sequence[Log],
    channel: str,
    settings: SecondOrderSettings,
    steps: int,
) -> ChannelFit:
    """The fit of a channel: of all logs where these excite it well, else the candidate that validates best.

    Args:
        logs: that are fitted.
        held_out: by which the candidates of a poorly excited channel are validated.
        channel: its name.
        settings: starts and bounds of the search.
        steps: evaluations at most.
    """
    i = CHANNELS.index(channel)
    whole, logs, fit_notes = _fit_without_offsets(logs, channel, settings, steps)
    _, others = without_offsets(whole, held_out, channel)
    bounds, why = bound_notes(whole, settings), poor_excitation(whole, logs, i)
    notes = (*fit_notes, *others, *shift_notes(whole, held_out, channel), *bounds)
    if not (bounds or why):
        return ChannelFit(whole, notes)
    candidates = _candidates(whole, logs, channel, settings, steps)
    errors = [_power(each.fit.values, held_out, i) ** 0.5 for each in candidates]
    best = int(np.argmin(errors))
    is_behind = errors[0] > errors[-1]  # no motion
    if errors[best] > (1.0 - MIN_GAIN) * errors[0] and not is_behind:
        return ChannelFit(whole, (*notes, *why))
    text = (
        f"offered is {candidates[best].name}, which validates best of {len(candidates)}: on the held-out logs"
        f" {errors[best] / errors[0]:.2f} times the error of all logs' fit"
    )
    return ChannelFit(candidates[best].fit, (*notes, *why, text))


def _fit_without_offsets(
    logs: Sequence[Log], channel: str, settings: SecondOrderSettings, steps: int
) -> tuple[Fit, Sequence[Log], tuple[str, ...]]:
    """A fit, the logs without the offsets that it finds, and notes of these, in rounds: offsets bend a fit."""
    fit, level = fit_channel(logs, channel, settings, steps), logs
    notes: tuple[str, ...] = ()
    for _ in range(ROUNDS):
        before = notes
        level, notes = without_offsets(fit, logs, channel)
        if notes == before:
            break
        fit = fit_channel(level, channel, settings, steps)
    return fit, level, notes


def shift_notes(fit: Fit, logs: Sequence[Log], channel: str) -> tuple[str, ...]:
    """A note of each log whose channel comes earlier or later than a fit says."""
    i = CHANNELS.index(channel)
    shifts = {
        log.name: shift_of(log.t, run_channel(fit.values, log, i), log.v[:, i]) for log in logs
    }
    return tuple(
        f"{name} comes {abs(each):.2g} s {'later' if each > 0.0 else 'earlier'} than by the fitted logs: one of them is"
        " stamped late"
        for name, each in shifts.items()
        if each
    )


def without_offsets(
    fit: Fit, logs: Sequence[Log], channel: str
) -> tuple[tuple[Log, ...], tuple[str, ...]]:
    """Logs whose channel lies on the free run of a fit in the mean, and a note of each offset that was taken out."""
    i, out, notes = CHANNELS.index(channel), [], []
    unit = "m/s" if channel in SPEEDS else "rad/s"
    for log in logs:
        off = log.v[:, i] - run_channel(fit.values, log, i)
        sound = log.sound[:, i]
        offset = offset_of(log.t, off, sound, unit, OF_MOTION * float(np.std(log.v[sound, i])))
        if offset is not None:
            v = log.v.copy()
            v[:, i] -= offset.profile
            log = replace(log, v=v)  # noqa: PLW2901
            notes.append(f"{log.name} {offset.text}: a bias, or steady wind; {OFFSET_REMEDY}")
        out.append(log)
    return tuple(out), tuple(notes)


def _candidates(
    whole: Fit, logs: Sequence[Log], channel: str, settings: SecondOrderSettings, steps: int
) -> list[Candidate]:
    """The fit of all logs first, then a critically damped one, that of each log, and no motion."""
    critical = bounds_of(settings)
    for row, off in zip(critical, (-CRITICAL, CRITICAL), strict=True):
        row[KEYS.index("damping")] = 1.0 + off
    damped = fit_channel(logs, channel, settings, steps, bounds=critical)
    out = [Candidate("the fit of all logs", whole), Candidate("a critically damped fit", damped)]
    for log in logs if len(logs) > 1 else ():
        single = fit_channel([log], channel, settings, steps)
        out.append(Candidate(f"the fit of {log.name} alone", single))
    still = replace(whole, values=whole.values * [0.0, 1.0, 1.0, 1.0])
    return [*out, Candidate("no motion (gain 0)", still)]


def _power(row: Array, logs: Sequence[Log], i: int) -> float:
    """Mean over logs of the mean square error of free runs of channel i, as `validation` counts them."""
    errors = [(run_channel(row, log, i) - log.v[:, i])[log.sound[:, i]] for log in logs]
    return float(np.mean([np.mean(each**2) for each in errors]))


def bound_notes(fit: Fit, settings: SecondOrderSettings) -> tuple[str, ...]:
    """Sentences on the parameters that lie at a bound; no dead time is none."""
    low, high = bounds_of(settings)
    notes = []
    for key, value, least, most in zip(KEYS, fit.values, low, high, strict=True):
        near = AT_BOUND * (most - least)
        if value - least < near and not (key == "delay" and least == 0.0):
            notes.append(f"{key} is at its lower bound, {least:g}")
        elif most - value < near:
            notes.append(f"{key} is at its upper bound, {most:g}")
    return tuple(notes)


def poor_excitation(fit: Fit, logs: Sequence[Log], i: int) -> tuple[str, ...]:
    """Sentences on why a fit of channel i is not to be trusted."""
    power = sum(float(np.sum((log.v[1:, i] * log.sound[1:, i]) ** 2)) for log in logs)
    explained = 1.0 - fit.cost**2 / power if power > 0.0 else 0.0
    notes = []
    if explained < MIN_EXPLAINED:
        percent = 100.0 * max(explained, 0.0)
        notes.append(f"poorly excited, the command explains {percent:.0f} % of the motion's power")
    if not fit.half_widths[0] < abs(fit.values[0]):
        notes.append("poorly excited, the gain's 95 % interval does not leave zero out")
    return tuple(notes)
