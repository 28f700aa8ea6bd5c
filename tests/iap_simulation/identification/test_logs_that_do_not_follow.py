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


def in_the_world(s: Signals, *, commands: bool = False) -> Signals:
    """Horizontal velocities, or their commands, along axes that do not turn with the heading."""
    end = "_ref" if commands else ""
    ahead = (s[f"u_l{end}"] + 1j * s[f"u_m{end}"]) * np.exp(1j * (0.7 + DT * np.cumsum(s["w"])))
    return {**s, f"u_l{end}": ahead.real, f"u_m{end}": ahead.imag}


def commanded_in_the_world(s: Signals) -> Signals:
    return in_the_world(s, commands=True)


def in_rpm(s: Signals) -> Signals:
    return {**s, "w": 30.0 / np.pi * s["w"]}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            in_rpm,
            r"is w in rpm\? .w \[rpm\]. in the header takes it so, .w \[rad/s\]. as it stands",
        ),
        (in_the_world, "are velocities along the world's axes"),
        (commanded_in_the_world, "are commands along the world's axes"),
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


def doublets(seed: int = 1, seconds: float = 40.0) -> Signals:
    """Three doublets of 2 s on one channel after the other, over and over: a velocity is like its own opposite."""
    rng, t = np.random.default_rng(seed), np.arange(0.0, seconds, DT)
    out = {"t": t}
    for i, name in enumerate(NAMES):
        phase = (t - 2.0 - 7.0 * i) % 28.0
        u = np.where(phase < 6.0, np.where(phase % 2.0 < 1.0, 0.7, -0.7), 0.0) * (
            t > 2.0 + 7.0 * i
        )
        out[f"{name}_ref"] = u
        out[name] = response(PLANT, t, u, 0.0, 0.0) + rng.normal(0.0, 0.02, len(t))
    return out


def sines(seed: int = 1) -> Signals:
    """Two sines on each channel, 30 s."""
    rng, t = np.random.default_rng(seed), np.arange(0.0, 30.0, DT)
    out = {"t": t}
    for i, name in enumerate(NAMES):
        u = 0.5 * np.sin(0.8 * (1.0 + 0.4 * i) * t) + 0.4 * np.sin(2.9 * (1.0 + 0.1 * i) * t + i)
        out[f"{name}_ref"] = u
        out[name] = response(PLANT, t, u, 0.0, 0.0) + rng.normal(0.0, 0.02, len(t))
    return out


FLIGHTS = [flight, doublets, sines]


@pytest.mark.parametrize("fly", FLIGHTS)
@pytest.mark.parametrize("name", NAMES)
def test_an_inverted_axis_is_known_though_the_command_repeats(
    fly: Callable[[], Signals], name: str
) -> None:
    s = fly()
    with pytest.raises(BadInput, match=f"channel {name} goes the opposite way of {name}_ref"):
        check_following(make_log("log", "log.csv", {**s, name: -s[name]}))


@pytest.mark.parametrize("fly", FLIGHTS)
@pytest.mark.parametrize("pair", [("u_l", "u_m"), ("u_n", "w")])
def test_exchanged_channels_are_known_whatever_is_commanded(
    fly: Callable[[], Signals], pair: tuple[str, str]
) -> None:
    s, (a, b) = fly(), pair
    with pytest.raises(BadInput, match=f"channel {a} follows {b}_ref, not {a}_ref"):
        check_following(make_log("log", "log.csv", {**s, a: s[b], b: s[a]}))


@pytest.mark.parametrize("fly", FLIGHTS)
def test_commands_and_velocities_that_are_exchanged_are_known(fly: Callable[[], Signals]) -> None:
    with pytest.raises(
        BadInput, match="are commands and velocities exchanged|clocks of their own"
    ):
        check_following(make_log("log", "log.csv", turned_round(fly())))


def shifted(s: Signals, seconds: float) -> Signals:
    """Velocities that are stamped so much later, or earlier."""
    k = round(abs(seconds) / DT)
    late, early = slice(0, -k), slice(k, None)
    of_v, of_u = (late, early) if seconds > 0.0 else (early, late)
    out = {"t": s["t"][:-k]}
    return out | {n: s[n][of_v] for n in NAMES} | {f"{n}_ref": s[f"{n}_ref"][of_u] for n in NAMES}


@pytest.mark.parametrize("seconds", [-7.0, -2.4, 3.6, 9.0])
def test_clocks_that_are_seconds_apart_are_named_with_the_time(seconds: float) -> None:
    way = "after" if seconds > 0.0 else "before"
    with pytest.raises(BadInput, match=f"velocities come .* s {way} their commands") as error:
        check_following(make_log("log", "log.csv", shifted(flight(), seconds)))
    named = float(str(error.value).split("come ")[1].split(" s ")[0])
    lag = 0.16 + 2.0 * PLANT[2] / PLANT[1]  # of the plant
    assert named == pytest.approx(abs(seconds + lag), abs=0.2)


@pytest.mark.parametrize("seconds", [-0.48, -0.8])
def test_a_velocity_that_begins_before_its_command_is_refused_with_the_lead(
    seconds: float,
) -> None:
    """The plant's lag hides a part of it: velocities come later than commands, and begin before them."""
    with pytest.raises(BadInput, match=r"before its command: are commands"):
        check_following(make_log("log", "log.csv", shifted(flight(), seconds)))


def test_a_second_of_delay_in_all_channels_is_noted() -> None:
    (note,) = check_following(make_log("log", "log.csv", shifted(flight(), 0.9)))
    assert "every velocity follows its command" in note and "clocks of their own" in note


@pytest.mark.parametrize("fly", FLIGHTS)
def test_what_follows_is_taken_whatever_is_commanded(fly: Callable[[], Signals]) -> None:
    assert not check_following(make_log("log", "log.csv", fly()))


def test_a_log_of_eight_seconds_has_notes_in_place_of_refusals() -> None:
    s = {name: x[: round(8.0 / DT)] for name, x in flight().items()}
    assert not check_following(make_log("log", "log.csv", s))
    (note,) = check_following(make_log("log", "log.csv", mirrored(s)))
    assert note.startswith("channel u_m goes the opposite way")


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
