# SPDX-License-Identifier: BSD-3-Clause
"""Channels that are not what the vehicle did are noticed by name, place and size, and do not change what is found."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from iap_bringup.cli import main
from iap_description.errors import BadInput
from iap_physics.identified.second_order import response
from iap_simulation.identification.choosing import sections
from iap_simulation.identification.following import check_following
from iap_simulation.identification.log_files import read_log

NAMES = ("u_l", "u_m", "u_n", "w")
PLANT = np.array([1.1, 6.0, 0.7, 0.16])  # gain, frequency, damping, delay
DT = 0.04
Signals = dict[str, np.ndarray]


def flight(seed: int = 1, noise: float = 0.01, seconds: float = 40.0) -> Signals:
    """Steps of 1.5 s on every channel."""
    rng, t = np.random.default_rng(seed), DT * np.arange(round(seconds / DT))
    out = {"t": t}
    for name in NAMES:
        u = np.repeat(rng.uniform(-1.0, 1.0, len(t) // 38 + 1), 38)[: len(t)]
        out[f"{name}_ref"] = u
        out[name] = response(PLANT, t, u, 0.0, 0.0) + rng.normal(0.0, noise, len(t))
    return out


def written(path: Path, s: Signals, names: dict[str, str] | None = None) -> Path:
    header = ",".join((names or {}).get(name, name) for name in s)
    np.savetxt(path, np.column_stack(list(s.values())), delimiter=",", header=header, comments="")
    return path


def spiky(s: Signals) -> Signals:
    s["u_l"][[60, 61, 300, 555]] += 3.0
    return s


def spiky_command(s: Signals) -> Signals:
    s["u_l_ref"][[60, 555]] += 8.0
    return s


def frozen(s: Signals) -> Signals:
    s["u_m"][250:325] = s["u_m"][250]
    return s


def becalmed(s: Signals) -> Signals:
    s["u_m"][250:400] = s["u_m"][250] + np.random.default_rng(9).normal(0.0, 0.01, 150)
    return s


def held_whole(s: Signals) -> Signals:
    return {
        n: np.r_[x[:250], np.full(75, x[250]), x[325:]] if n != "t" else x for n, x in s.items()
    }


def joined(s: Signals) -> Signals:
    other = flight(7)
    return {n: np.r_[x[:500], other[n][500:]] if n != "t" else x for n, x in s.items()}


def biased(s: Signals) -> Signals:
    return {**s, "u_l": s["u_l"] + 0.3}


def stepping(s: Signals) -> Signals:
    return {**s, "u_l": s["u_l"] + 0.4 * (s["t"] > 22.0)}


def drifting(s: Signals) -> Signals:
    return {**s, "w": s["w"] + 0.015 * s["t"]}


def saturated(s: Signals) -> Signals:
    return {**s, "u_m": np.clip(s["u_m"], -0.45, 0.45)}


def measured_slowly(s: Signals) -> Signals:
    """A state estimate of 5 Hz in a log of 25 Hz."""
    return {n: np.repeat(x[::5], 5)[: len(x)] if n in NAMES else x for n, x in s.items()}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (measured_slowly, "u_m is measured every 5 samples: others do not count"),
        (spiky, "u_l: 4 samples off the others by up to 3"),
        (spiky_command, "u_l_ref: 2 samples off the others by up to 8"),
        (frozen, "from 10 to 12.96 s while its command moves"),
        (becalmed, "u_m stands still at"),
        (saturated, "u_m stops at 0.45 in"),
        (held_whole, "velocities leap at t = 13 s"),
        (joined, "velocities leap at t = 20 s"),
        (biased, "m/s off its free run all along"),
        (stepping, "m/s at t = 22"),
        (drifting, "rad/s over 40 s against its free run"),
    ],
)
def test_a_fault_of_a_channel_is_named_and_leaves_the_model_as_it_is(
    tmp_path: Path, change: Callable[[Signals], Signals], text: str
) -> None:
    paths = [written(tmp_path / "a.csv", change(flight())), written(tmp_path / "b.csv", flight(2))]
    out = tmp_path / "out"
    asked = ["identify", *map(str, paths), "--model", "second_order", "--no-plot"]
    assert main.main([*asked, "--out", str(out)]) == 0
    metrics = json.loads((out / "metrics.json").read_text())
    assert text in json.dumps([metrics["notes"], metrics["channel_notes"]])
    for name in NAMES:
        found = [
            metrics["parameters"][f"{name} {key}"][0] for key in ("gain", "frequency", "delay")
        ]
        np.testing.assert_allclose(found, PLANT[[0, 1, 3]], rtol=0.03)


def test_sound_channels_have_no_notes(tmp_path: Path) -> None:
    for noise in (0.0, 0.01, 0.1):
        paths = [written(tmp_path / f"{k}.csv", flight(k, noise)) for k in (1, 2)]
        out = tmp_path / f"out_{noise}"
        asked = ["identify", *map(str, paths), "--model", "second_order", "--no-plot"]
        assert main.main([*asked, "--out", str(out)]) == 0
        metrics = json.loads((out / "metrics.json").read_text())
        assert not metrics["notes"]
        assert not metrics["channel_notes"]


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_steps_and_rest_are_no_faults_of_a_channel(tmp_path: Path, noise: float) -> None:
    """Velocities that have come to rest repeat one number, and commands of one sample are pulses."""
    s = flight(1, noise)
    for name in NAMES:
        u = np.zeros(len(s["t"]))
        u[200::200] = 0.8
        u[::400] = -0.8
        u[300:550] += 0.5
        s[f"{name}_ref"] = u
        v = response(PLANT, s["t"], u, 0.0, 0.0)
        s[name] = np.round(v + np.random.default_rng(3).normal(0.0, noise, len(v)), 3)
    log = read_log(written(tmp_path / "a.csv", s))
    assert log.sound.all()
    assert not log.notes


def test_a_channel_that_never_changes_is_refused_while_its_command_does(tmp_path: Path) -> None:
    s = flight()
    s["u_n"][:] = 0.2
    with pytest.raises(BadInput, match=r"channel u_n is 0\.2 in every sample, while u_n_ref goes"):
        read_log(written(tmp_path / "a.csv", s))


def test_a_channel_without_a_command_is_said_not_to_be_fitted(tmp_path: Path) -> None:
    s = flight()
    s["u_m_ref"][:] = 0.0
    paths = [written(tmp_path / "a.csv", s), written(tmp_path / "b.csv", flight(2))]
    out = tmp_path / "out"
    assert (
        main.main(
            [
                "identify",
                *map(str, paths),
                "--model",
                "second_order",
                "--no-plot",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    (note,) = json.loads((out / "metrics.json").read_text())["channel_notes"]["u_m"]
    assert note.startswith("not fitted: u_m_ref is 0 in every sample")


@pytest.mark.parametrize(
    ("names", "factor", "text"),
    [
        (("u_l", "u_m", "u_n"), 3.6, "is u_l in km/h"),
        (("u_l_ref", "u_m_ref", "u_n_ref"), 3.6, "is u_l_ref in km/h"),
        (("u_l", "u_m", "u_n"), 1.0 / 0.3048, "is u_l in ft/s"),
        (("u_n",), 10.0, "is u_n in dm/s"),
        (("w",), 30.0 / np.pi, "is w in rpm"),
    ],
)
def test_velocities_in_another_unit_than_their_commands_are_refused(
    tmp_path: Path, names: tuple[str, ...], factor: float, text: str
) -> None:
    s = {name: x / PLANT[0] if name in NAMES else x for name, x in flight().items()}
    s |= {name: factor * s[name] for name in names}
    with pytest.raises(BadInput, match=text):
        check_following(read_log(written(tmp_path / "a.csv", s)))
    units = {name: f"{name} [{'rad/s' if name[0] == 'w' else 'm/s'}]" for name in s if name != "t"}
    assert check_following(read_log(written(tmp_path / "b.csv", s, units)))


def test_a_channel_that_is_late_beside_its_like_has_a_note(tmp_path: Path) -> None:
    s = flight()
    s["u_m"] = np.interp(s["t"] - 0.2, s["t"], s["u_m"])
    (note,) = check_following(read_log(written(tmp_path / "a.csv", s)))
    assert note.startswith("u_m follows its command 0.2 s later than u_l")


def test_commands_that_are_stamped_late_are_refused_however_smooth(tmp_path: Path) -> None:
    s = flight(noise=0.0)
    for name in NAMES:
        smooth = np.sin(0.5 * s["t"] + len(name)) + 0.5 * np.sin(0.9 * s["t"])
        v = response(PLANT, s["t"], smooth, 0.0, 0.0)
        s |= {name: v, f"{name}_ref": np.interp(s["t"] - 0.6, s["t"], smooth)}
    with pytest.raises(BadInput, match="before its command"):
        check_following(read_log(written(tmp_path / "a.csv", s)))


@pytest.mark.parametrize(
    ("speed", "size"),
    [("km/h", 3.6), ("cm/s", 100.0), ("m s^-1", 1.0), ("knots", 3600.0 / 1852.0)],
)
def test_units_of_a_header_are_read(tmp_path: Path, speed: str, size: float) -> None:
    s = flight()
    expected = read_log(written(tmp_path / "a.csv", s))
    names = {name: f"{name} [{speed}]" for name in s if name[:1] == "u"}
    names |= {"w": "w (deg/s)", "w_ref": "w_ref_deg_s", "t": "t [ms]"}
    scaled = {
        name: x * (size if name in names and name[0] == "u" else 1.0) for name, x in s.items()
    }
    scaled |= {name: np.degrees(s[name]) for name in ("w", "w_ref")} | {"t": 1e3 * s["t"]}
    log = read_log(written(tmp_path / "b.csv", scaled, names))
    np.testing.assert_allclose(log.v, expected.v, atol=1e-9)
    np.testing.assert_allclose(log.command, expected.command, atol=1e-9)
    np.testing.assert_allclose(log.t, expected.t, atol=1e-9)


def test_a_unit_that_is_none_of_the_quantity_is_refused_with_its_column(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", flight(), {"u_m": "u_m [ms]"})
    with pytest.raises(BadInput, match=r"column 'u_m \[ms\]': its unit is none of m/s"):
        read_log(path)


def test_columns_of_one_vehicle_are_read_and_those_of_two_are_refused(tmp_path: Path) -> None:
    s = flight()
    of_a = {name: f"/droneA/{name}" for name in s if name != "t"}
    log = read_log(written(tmp_path / "a.csv", s, of_a))
    np.testing.assert_array_equal(log.v, read_log(written(tmp_path / "b.csv", s)).v)
    assert log.notes == ("columns of droneA are read",)
    both = s | {f"droneB.{name}": x for name, x in s.items()}
    with pytest.raises(BadInput, match="columns of droneA and droneB"):
        read_log(written(tmp_path / "c.csv", both, of_a))


@pytest.mark.parametrize(("unit", "size"), [("us", 1e6), ("ns", 1e9)])
def test_times_since_1970_are_read_in_every_unit(tmp_path: Path, unit: str, size: float) -> None:
    s = flight()
    log = read_log(written(tmp_path / "a.csv", {**s, "t": size * (1.7e9 + s["t"])}))
    np.testing.assert_allclose(log.t, s["t"], atol=1e-5)
    assert log.notes[0].startswith(f"t is taken as {unit}")


def test_flights_that_are_joined_are_cut_and_settle(tmp_path: Path) -> None:
    parts = sections(read_log(written(tmp_path / "a.csv", joined(flight()))))
    assert [len(part.t) for part in parts] == [500, 500]
    assert not parts[1].sound[0].any()


def test_a_held_out_log_whose_clock_is_late_has_a_note(tmp_path: Path) -> None:
    late = flight(2)
    late |= {name: np.interp(late["t"] - 0.3, late["t"], late[name]) for name in NAMES}
    paths = [written(tmp_path / "a.csv", flight()), written(tmp_path / "b.csv", late)]
    out = tmp_path / "out"
    asked = ["identify", *map(str, paths), "--model", "second_order", "--no-plot"]
    assert main.main([*asked, "--out", str(out)]) == 0
    notes = json.loads((out / "metrics.json").read_text())["channel_notes"]
    assert notes["u_l"] == [
        "b comes 0.28 s later than by the fitted logs: one of them is stamped late"
    ] or notes["u_l"][0].startswith("b comes 0.3")


def test_rows_that_repeat_all_numbers_do_not_count_and_are_counted(tmp_path: Path) -> None:
    s = flight(1, 0.01)
    rows = np.sort(np.r_[np.arange(1000), np.random.default_rng(4).choice(1000, 150, False)])
    doubled = {n: x[rows] for n, x in s.items()} | {"t": DT * np.arange(len(rows))}
    log = read_log(written(tmp_path / "a.csv", doubled))
    assert (~log.sound[:, 0]).sum() == 150
    assert "150 samples repeat every number of the one before" in log.notes[0]


def test_a_command_in_place_of_a_measurement_is_refused(tmp_path: Path) -> None:
    s = flight()
    with pytest.raises(BadInput, match=r"channel u_n is u_n_ref in every sample"):
        read_log(written(tmp_path / "a.csv", {**s, "u_n": s["u_n_ref"]}))


def test_a_coarse_resolution_is_no_joint_of_flights(tmp_path: Path) -> None:
    s = flight(1, 0.0)
    coarse = {n: np.round(x, 1) if n in NAMES else x for n, x in s.items()}
    notes = read_log(written(tmp_path / "a.csv", coarse)).notes
    assert not [note for note in notes if "leap" in note or "measured" in note]
