# SPDX-License-Identifier: BSD-3-Clause
"""Logs: what is read back is what was flown, and what is damaged is refused in one line."""

import numpy as np
import pytest
from arm_logs import commands, signals, write_log
from scipy.io import savemat

from iap_description.errors import BadInput
from iap_io.runs.run_reader import RunReader
from iap_physics.identified.plant_file import load_plant
from iap_simulation.identification.dynamic_model import free_run
from iap_simulation.identification.log_files import read_log
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
    """Where commands come as often as the plant steps, the model runs through the recorded states again."""
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
        (holed(table()), "channel u_l is nan in sample 3"),
        (backwards(table()), "t does not increase"),
        (csv(table(10)), "10 samples"),
        (csv(table()) + "1,2\n", "line 42: 9 numbers are expected"),
        (csv(table()) + "1,2,3,4,5,6,7,8,x\n", "line 42: could not convert"),
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
