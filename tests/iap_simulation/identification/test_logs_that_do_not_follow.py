# SPDX-License-Identifier: BSD-3-Clause
"""Logs whose velocities follow other commands than theirs, the other way, or before them, are refused by name."""

from collections.abc import Callable

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_physics.identified.second_order import response
from iap_simulation.identification.following import check_following
from iap_simulation.identification.log import make_log

NAMES = ("u_l", "u_m", "u_n", "w")
PLANT = np.array([1.1, 6.0, 0.7, 0.16])  # gain, frequency, damping, delay
DT = 0.04
Signals = dict[str, np.ndarray]


def flight(seed: int = 1) -> Signals:
    """Steps of 1.5 s on every channel, 30 s."""
    rng, t = np.random.default_rng(seed), DT * np.arange(750)
    out = {"t": t}
    for name in NAMES:
        u = np.repeat(rng.uniform(-1.0, 1.0, 20), 38)[:750]
        out[f"{name}_ref"] = u
        out[name] = response(PLANT, t, u, 0.0, 0.0) + rng.normal(0.0, 0.02, 750)
    return out


def exchanged(s: Signals) -> Signals:
    return {**s, "u_l": s["u_m"], "u_m": s["u_l"]}


def mirrored(s: Signals) -> Signals:
    return {**s, "u_m": -s["u_m"]}


def turned_round(s: Signals) -> Signals:
    """Commands are velocities and the other way round."""
    return s | {f"{n}_ref": s[n] for n in NAMES} | {n: s[f"{n}_ref"] for n in NAMES}


def late_commands(s: Signals) -> Signals:
    return s | {f"{n}_ref": np.r_[np.zeros(15), s[f"{n}_ref"][:-15]] for n in NAMES}


def in_rpm(s: Signals) -> Signals:
    return {**s, "w": 30.0 / np.pi * s["w"]}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            in_rpm,
            r"is w in rpm\? .w \[rpm\]. in the header takes it so, .w \[rad/s\]. as it stands",
        ),
        (exchanged, "channel u_l follows u_m_ref, not u_l_ref"),
        (mirrored, "channel u_m goes the opposite way of u_m_ref"),
        (turned_round, "are commands and velocities exchanged"),
        (late_commands, "s before its command"),
    ],
)
def test_what_does_not_follow_its_command_is_refused(
    change: Callable[[Signals], Signals], text: str
) -> None:
    with pytest.raises(BadInput, match=text):
        check_following(make_log("log", "log.csv", change(flight())))


@pytest.mark.parametrize("delay", [0.0, 0.16, 1.3])
def test_what_follows_its_command_is_taken_however_late(delay: float) -> None:
    signals = flight(2)
    row = np.array([*PLANT[:3], delay])
    for name in NAMES:
        signals[name] = response(row, signals["t"], signals[f"{name}_ref"], 0.0, 0.0)
    check_following(make_log("log", "log.csv", signals))


def test_what_wind_moves_is_left_to_the_fit() -> None:
    signals, rng = flight(3), np.random.default_rng(3)
    signals["u_m"] = np.cumsum(rng.normal(0.0, 0.05, 750))
    check_following(make_log("log", "log.csv", signals))
