# SPDX-License-Identifier: BSD-3-Clause
"""Logs: what is read back is what was flown, and what is damaged is refused in one line."""

import numpy as np
import pytest
from arm_logs import commands, signals, write_log
from scipy.io import savemat

from iap_description.errors import BadInput
from iap_io.runs.run_reader import RunReader
from iap_physics.identified.plant_file import load_plant
from iap_physics.identified.second_order import response
from iap_simulation.identification.channels import free_run_of_channels
from iap_simulation.identification.choosing import sections, split
from iap_simulation.identification.dynamic_model import free_run
from iap_simulation.identification.log import LogUnits
from iap_simulation.identification.log_files import read_log
from iap_simulation.identification.settings import load_settings
from iap_simulation.runs.run import record

PAPER = load_plant("paper")


def test_a_matlab_log_has_the_velocities_along_the_aircraft_s_heading(tmp_path):
    log = read_log(write_log(tmp_path / "a.mat", PAPER, seed=1, samples=100))
    np.testing.assert_allclose(log.command, commands(log.t, 1), atol=1e-12)
    np.testing.assert_allclose(free_run(PAPER.dynamics(), log), log.v, atol=1e-9)


def test_measured_times_are_those_of_the_loop(tmp_path):
    tree = {**signals(PAPER, seed=1, samples=30), "dt": np.full(30, 0.109)}
    savemat(tmp_path / "a.mat", tree, oned_as="row")
    measured, nominal = (read_log(tmp_path / "a.mat", c).t for c in ("measured", "nominal"))
    np.testing.assert_allclose(measured, 1.09 * nominal)


def test_spikes_do_not_count(tmp_path):
    tree = signals(PAPER, seed=1, samples=60)
    tree["q3_p"][20] += 9.0
    savemat(tmp_path / "a.mat", tree, oned_as="row")
    log = read_log(tmp_path / "a.mat")
    assert np.argwhere(~log.sound).tolist() == [[20, 6]]
    assert log.v[20, 6] == log.v[19, 6]


def test_the_recording_of_an_arm_is_a_log_of_what_the_plant_was_commanded(tmp_path):
    """A log with a command for each step of the plant: the model runs through the recorded states again."""
    settings = {"plant.noise": 0.0, "rates.control_hz": 20.0, "compare": {}}
    folder = record("arm_path", folder=tmp_path / "run", settings=settings, duration=12.0).folder
    log, (columns,) = read_log(folder), RunReader(folder).columns()
    assert log.has_arm
    np.testing.assert_allclose(log.v[:, 4:], columns.arm.v, atol=1e-12)
    np.testing.assert_allclose(free_run(PAPER.dynamics(), log), log.v, atol=1e-9)


HEADER = "t,u_l_ref,u_m_ref,u_n_ref,w_ref,u_l,u_m,u_n,w"


def csv(rows):
    return "\n".join([HEADER, *(",".join(map(str, row)) for row in rows)]) + "\n"


def table(samples=40):
    return np.column_stack([0.1 * np.arange(samples), np.zeros((samples, 8))])


def test_a_csv_of_a_vehicle_without_an_arm_has_four_channels(tmp_path):
    (tmp_path / "a.csv").write_text(csv(table()))
    log = read_log(tmp_path / "a.csv")
    assert log.channels == ("u_l", "u_m", "u_n", "w")
    assert not log.has_arm


ROW = np.array([0.8, 6.0, 0.7, 0.12])  # gain, frequency, damping and delay of a made-up vehicle


def flight(seconds=20.0, period=0.04):
    """Rows of a log of steps, without noise."""
    t = period * np.arange(round(seconds / period))
    rng = np.random.default_rng(4)
    steps = rng.uniform(-1.0, 1.0, (4, round(seconds) + 1))[:, (t / 1.5).astype(int)]
    v = [response(ROW, t, u, 0.0, 0.0) for u in np.ascontiguousarray(steps)]
    return np.column_stack([t, steps.T, *v])


def error(log):
    """Free-run error of the true vehicle where samples count, of the channel that errs most."""
    off = free_run_of_channels(np.tile(ROW, (7, 1)), log) - log.v
    return np.sqrt(np.mean(off**2, axis=0, where=log.sound)).max()


@pytest.mark.parametrize(("start", "gap"), [(7.1, 3.0), (11.3, 0.9)])
def test_a_log_is_cut_where_samples_are_missing(tmp_path, start, gap):
    rows = flight()
    kept = rows[(rows[:, 0] < start) | (rows[:, 0] > start + gap)]
    (tmp_path / "a.csv").write_text(csv(kept))
    whole = read_log(tmp_path / "a.csv")
    assert error(whole) > 0.02
    parts = sections(whole)
    assert [len(part.t) for part in parts] == [
        (kept[:, 0] < start).sum(),
        (kept[:, 0] > start).sum(),
    ]
    assert max(map(error, parts)) < 2e-4
    assert "1 gap of up to" in parts[0].notes[0]
    assert "cut into 2 parts" in parts[0].notes[0]


def test_a_clock_that_steps_back_and_stays_cuts_the_log(tmp_path):
    rows = flight()
    rows[rows[:, 0] > 9.0, 0] -= 1.7
    (tmp_path / "a.csv").write_text(csv(rows))
    parts = sections(read_log(tmp_path / "a.csv"))
    assert len(parts) == 2
    assert max(map(error, parts)) < 2e-4
    assert "t steps back by 1.66 s at 9 s" in parts[0].notes[0]


@pytest.mark.parametrize(("unit", "size"), [("ms", 1e3), ("us", 1e6), ("ns", 1e9), ("s", 1.0)])
def test_the_unit_of_a_log_s_times_is_found(tmp_path, unit, size):
    rows = flight(6.0)
    (tmp_path / "a.csv").write_text(csv(rows * [size, *[1.0] * 8]))
    log = read_log(tmp_path / "a.csv")
    np.testing.assert_allclose(log.t, rows[:, 0], atol=1e-9)
    assert any(f"taken as {unit}" in note for note in log.notes) == (unit != "s")


def test_samples_that_repeat_a_time_are_left_out_and_counted(tmp_path):
    rows = flight(6.0)
    (tmp_path / "a.csv").write_text(csv(np.insert(rows, [30, 31, 80], rows[[30, 31, 80]], axis=0)))
    (log,) = sections(read_log(tmp_path / "a.csv"))
    np.testing.assert_allclose(log.t, rows[:, 0], atol=1e-9)
    assert log.notes == ("3 samples that repeat a time were left out",)
    (tmp_path / "b.csv").write_text(csv(np.repeat(rows, 2, axis=0)))
    with pytest.raises(BadInput, match="t does not increase: 150 of 300 samples repeat a time"):
        read_log(tmp_path / "b.csv")


def test_short_drop_outs_are_counted(tmp_path):
    rows = np.delete(flight(10.0), [40, 41, 90, 200], axis=0)
    (tmp_path / "a.csv").write_text(csv(rows))
    (log,) = sections(read_log(tmp_path / "a.csv"))
    assert log.notes == ("3 drop-outs of up to 0.12 s, through which commands are held",)


@pytest.mark.parametrize(
    ("columns", "factor", "words"),
    [
        (slice(1, 4), 1000.0, "in mm/s.* --set speed_unit=0.001"),
        (
            slice(1, 9),
            100.0,
            "in cm/s.* --set speed_unit=0.01, or in mm/s.* --set speed_unit=0.001",
        ),
        (slice(1, 9), 1000.0, "in mm/s.* --set speed_unit=0.001"),
        ([4, 8], 180.0 / np.pi, "in deg/s.* --set angle_unit=deg"),
        (slice(1, 4), 0.001, "times its command: their units differ"),
    ],
)
def test_velocities_in_other_units_are_refused_with_the_setting_that_takes_them(
    tmp_path, columns, factor, words
):
    rows = flight(6.0)
    rows[:, columns] *= factor
    (tmp_path / "a.csv").write_text(csv(rows))
    with pytest.raises(BadInput, match=words):
        read_log(tmp_path / "a.csv")


def test_a_log_of_another_period_than_the_fitted_one_has_a_note(tmp_path):
    for name, factor in (("a", 1.0), ("b", 1.7)):
        rows = flight(12.0) if name == "a" else flight(14.0)
        rows[:, 0] *= factor
        (tmp_path / f"{name}.csv").write_text(csv(rows))
    logs = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    (held_out,) = split(logs, [], [], clock="nominal").held_out
    assert held_out.notes[-1].startswith("its period is 68 ms, that of the fitted log 40 ms")


def test_a_log_in_millimetres_and_degrees_is_read_when_asked(tmp_path):
    rows = flight(6.0)
    scale = np.array([1.0, *([1e3] * 3), 180.0 / np.pi] + [1e3] * 3 + [180.0 / np.pi])
    (tmp_path / "a.csv").write_text(csv(rows * scale))
    log = read_log(tmp_path / "a.csv", units=LogUnits(1e-3, np.pi / 180.0))
    np.testing.assert_allclose(log.v[:, :4], rows[:, 5:], atol=1e-9)
    np.testing.assert_allclose(log.command[:, :4], rows[:, 1:5], atol=1e-9)


def test_names_in_quotes_with_units_and_decimal_commas_are_read(tmp_path):
    rows = table()
    rows[:, 5] = 0.25 * np.sin(rows[:, 0])
    text = csv(rows)
    (tmp_path / "a.csv").write_text(text)
    first, *others = text.splitlines()
    units = {"t": "s", "w": "rad/s", "w_ref": "rad/s"}
    names = ";".join(f'"{name} [{units.get(name, "m/s")}]"' for name in first.split(","))
    body = "\n\n".join(others).replace(",", ";").replace(".", ",")
    (tmp_path / "b.csv").write_text(f"# {names}\r\n{body}\n")
    expected, log = read_log(tmp_path / "a.csv"), read_log(tmp_path / "b.csv")
    np.testing.assert_array_equal(log.v, expected.v)
    np.testing.assert_array_equal(log.t, expected.t)


@pytest.mark.parametrize("above", ["# logged by hand\n", "sep=,\n", "Flight 3\n\n"])
def test_lines_above_the_header_and_commas_behind_the_last_cell_are_no_columns(tmp_path, above):
    text = csv(table())
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "b.csv").write_text(above + text.replace("\n", ",\n"))
    expected, log = read_log(tmp_path / "a.csv"), read_log(tmp_path / "b.csv")
    np.testing.assert_array_equal(log.v, expected.v)


def holed(rows):
    rows[3, 5] = np.nan
    return csv(rows)


def backwards(rows):
    rows[7, 0] = 0.2
    return csv(rows)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (csv(table()).replace("u_m_ref", "um"), "missing channel u_m_ref"),
        (csv(table()).replace(",w\n", ",q1\n"), "missing channel"),
        (csv(table()).replace(",w\n", ",u_n\n"), "two columns are called 'u_n'"),
        (
            csv(table()).split("\n", 1)[1],
            "line 1: numbers, where the names of columns are expected",
        ),
        (holed(table()), "channel u_l is nan in sample 3"),
        (holed(table()).replace("nan", ""), "channel u_l is nan in sample 3"),
        (backwards(table()), "t does not increase"),
        (csv(table(10)), "10 samples"),
        (csv(table()) + "1,2", "line 42: 9 numbers are expected; the file ends within this line"),
        (csv(table()) + "1,2,3,4,5,6,7,8,x\n", "line 42: w is 'x', not a number"),
        (HEADER, "a header and rows"),
        ("", "a header and rows"),
    ],
)
def test_a_wrong_csv_is_refused_with_what_is_wrong(tmp_path, text, words):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(BadInput, match=words):
        read_log(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"xu_p": None}, "missing channel xu_p"),
        ({"ts": np.zeros(0)}, "missing channel ts"),
        ({"q2_p": np.zeros(40)}, "channel q2_p has 40 samples, psi has 50"),
        ({"psi": np.full(50, np.inf)}, "channel u_l is nan in sample 0"),
        ({"ul_ref": np.array(["a"] * 50)}, "missing channel ul_ref"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_wrong_matlab_file_is_refused_with_its_channel(tmp_path, change, words):
    tree = {**signals(PAPER, seed=1, samples=50), **change}
    kept = {name: value for name, value in tree.items() if value is not None}
    savemat(tmp_path / "a.mat", kept, oned_as="row")
    with pytest.raises(BadInput, match=words):
        read_log(tmp_path / "a.mat")


@pytest.mark.parametrize("content", [b"", b"nothing", b"\x00" * 200, bytes(range(256)) * 4])
def test_what_is_no_matlab_file_is_refused(tmp_path, content):
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(BadInput, match="not a MATLAB file|missing channel"):
        read_log(tmp_path / "a.mat")


@pytest.mark.parametrize("name", ["none.mat", "a.txt", "."])
def test_what_is_no_log_is_refused(tmp_path, name):
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(BadInput):
        read_log(tmp_path / name)


def test_a_matlab_file_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("iap_simulation.identification.log_files.MAX_UNPACKED", 1 << 20)
    path = tmp_path / "a.mat"
    savemat(path, {"psi": np.zeros(1 << 18)}, do_compression=True)
    assert path.stat().st_size < 10_000
    with pytest.raises(BadInput, match=r"a\.mat: more than 1 MiB of variables"):
        read_log(path)


def test_links_in_a_circle_are_no_log(tmp_path):
    (tmp_path / "a.csv").symlink_to("a.csv")
    with pytest.raises(BadInput, match=r"a\.csv"):
        split([str(tmp_path / name) for name in ("a.csv", "b.csv")], [], [], clock="nominal")


@pytest.mark.parametrize(
    "assignment",
    [
        "gain=[1.0, 1.0]",
        "gain=[.nan, 5.0]",
        "frequency=[60.0, 0.3]",
        "damping=[6.0, 0.1]",
        "delay=[-0.1, 0.6]",
        f"starts={[[3.0, 0.2]] * 21}",
    ],
)
def test_bounds_of_a_search_come_in_order_and_its_starts_are_not_many(assignment):
    key = assignment.partition("=")[0]
    with pytest.raises(BadInput, match=f"second_order.{key}"):
        load_settings((f"second_order.{assignment}",))


def test_a_file_of_matlab_7_3_is_refused_with_how_to_save_it(tmp_path):
    begin = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
    (tmp_path / "a.mat").write_bytes(begin + b"\x89HDF\r\n\x1a\n".rjust(392))
    with pytest.raises(BadInput, match=r"a.mat: of MATLAB 7.3: save it by save\(..., '-v7'\)"):
        read_log(tmp_path / "a.mat")
