# SPDX-License-Identifier: BSD-3-Clause
"""Every bar of modules is the worst of its own flights, axes and joints, in its unit."""

import numpy as np
import pytest
from module_rows import bars, joint, row

from iap_bringup.experiments.modules import cases as module_cases
from iap_bringup.experiments.modules.cases import (
    assembly,
    cases,
    hover,
    lemniscate,
    published,
    white,
)
from iap_bringup.experiments.modules.recorded_bars import TITLE, bar_cases


def axes(limits, *shares):
    """Errors of so many shares of limits, axis by axis."""
    return [share * limit for share, limit in zip(shares, limits, strict=True)]


def test_errors_in_hover_are_the_worst_seed_and_axis_of_the_central_module_over_published():
    paper = published().hover[4]
    one = row({"m2": axes(paper, 0.1, 0.2, 0.3, 0.2, 0.1, 0.2), "m1": [9.0] * 6})
    two = row({"m2": axes(paper, 0.1, 0.2, 0.1, 0.7, 0.1, 0.2), "m4": [9.0] * 6})
    found = bars(**{hover(4).name: [one, two, one]})
    assert found["hover, n = 4: error over published, worst axis"] == pytest.approx(0.7)
    noisy = bars(**{white(hover(4)).name: [one, one, two]})
    assert noisy["hover, n = 4, white noise: error over published, worst axis"] == pytest.approx(
        0.7
    )
    eight = row({"m4": [2e-5, 1e-5, 1e-5, 1e-5, 4e-5, 1e-5]})
    found = bars(**{hover(8).name: [eight] * 3})
    assert found["hover, n = 8 over n = 1, worst axis"] == pytest.approx(4.0)
    limits = np.maximum(published().hover[1], published().hover[4])
    if 8 not in published().hover:
        assert found["hover, n = 8: error over published, worst axis"] == pytest.approx(
            max(2e-5 / limits[0], 4e-5 / limits[4])
        )


def test_wrenches_in_joints_are_the_largest_of_all_flights_that_are_joined():
    strong = {"j1": joint(), "j2": joint(force_rms_n=0.4, torque_rms_nm=0.2)}
    found = bars(**{
        hover(1).name: [row(joint_force_n=9.0, joint_torque_nm=9.0)] * 3,
        hover(2).name: [row(joint_force_n=0.07, joint_torque_nm=0.03), row(), row()],
        white(hover(4)).name: [row(joint_force_n=0.05, joints=strong)] * 3,
    })  # fmt: skip
    assert found["hover: mean force in a joint, N"] == 0.07
    assert found["hover: mean torque in a joint, N m"] == 0.03
    assert found["mean force in a joint, white noise, N"] == 0.05
    assert (
        found["mean force in a joint, N"] == 0.001
        and found["mean torque in a joint, N m"] == 0.002
    )
    assert found["at an instant, white noise, n = 4, RMS, N"] == 0.4
    assert found["at an instant, white noise, n = 4, RMS, N m"] == 0.2
    assert found["at an instant, n = 4, RMS, N"] == 0.02


def test_growth_without_compensation_is_the_least_of_all_joints():
    joints = {
        "j1": joint(force_n=2.0, force_first_n=0.5),
        "j2": joint(force_n=1.0, force_first_n=0.75),
    }
    found = bars(**{hover(4, "none").name: [row(joints=joints)]})
    assert found["no compensation, n = 4: growth of the force, N"] == 0.25
    assert found["no compensation, n = 2: growth of the force, N"] == 2.0


def test_releases_are_in_millimetres_and_milliradians_and_beside_those_without_compensation():
    near = joint(released={"position_m": 0.002, "rotation_rad": 0.003})
    far = joint(released={"position_m": 0.004, "rotation_rad": 0.001})
    none = joint(released={"position_m": 0.02, "rotation_rad": 0.5})
    found = bars(**{
        f"{TITLE} release": [row(joints={"j": near}), row(joints={"j": far}), row(joints={"j": near})],
        f"{TITLE} release, none": [row(joints={"j": none})],
        assembly().name: [row(joints={"a": near, "b": far})] * 3,
    })  # fmt: skip
    assert found["release: first second, mm"] == pytest.approx(4.0)
    assert found["release: first second, mrad"] == pytest.approx(3.0)
    assert found["release: without compensation over with it"] == pytest.approx(5.0)
    assert found["assembly: partings, first second, mm"] == pytest.approx(4.0)
    assert found["assembly: partings, first second, mrad"] == pytest.approx(3.0)
    assert found["assembly, white noise: partings, first second, mm"] == pytest.approx(1.0)


def test_errors_of_assembly_and_lemniscate_are_of_places_and_of_angles():
    errors = {"m3": [0.001, 0.004, 0.002, 0.003, 0.001, 0.005]}
    paper = published().assembly
    three = published().lemniscate[3]
    way = {"m2": [0.001, 0.003, 0.002, 0.5 * three[0], 0.1 * three[1], 0.25 * three[2]]}
    found = bars(**{
        assembly().name: [row(errors)] * 3,
        lemniscate(3).name: [row(way)],
        f"{TITLE} breeze": [row({"m2": [0.006, 0.001, 0.001, 9.0, 9.0, 9.0], "m1": [9.0] * 6})],
    })  # fmt: skip
    assert found["assembly: position, worst axis, mm"] == pytest.approx(4.0)
    assert found["assembly: angle, worst axis, mrad"] == pytest.approx(5.0)
    expected = max(a / b for a, b in zip(errors["m3"], paper, strict=True))
    assert found["assembly: error over published, worst axis"] == pytest.approx(expected)
    assert found["lemniscate, n = 3: angle over published, worst axis"] == pytest.approx(0.5)
    assert found["lemniscate, n = 3: position, worst axis, mm"] == pytest.approx(3.0)
    assert found["lemniscate, n = 3, wind 2 m/s: position, worst axis, mm"] == pytest.approx(6.0)


def test_dockings_wrenches_that_are_asked_for_and_squares_are_judged():
    off = [5.0, 0.3, 0.4, 0.03, 1.04, 0.0]
    square = {"m1": [0.001, 0.002, 0.001, 0.001, 0.003, 0.001]}
    chain = {"m2": [0.001, 0.001, 0.002, 0.001, 0.001, 0.001]}
    gusts = [row() for _ in range(20)]
    gusts[3], gusts[7] = row(outcome="crashed"), row(joints={"j": joint(caught_s=None)})
    found = bars(**{
        f"{TITLE} wanted": [row(joints={"a": joint(), "b": joint(wrench=off)})],
        f"{TITLE} square": [row(square, joint_force_n=0.15)],
        f"{TITLE} gusts": gusts,
        f"{TITLE} printed": [row({"m1": [0.1, 0.25, 0.2, 9.0, 9.0, 9.0]})],
        hover(4).name: [row(chain)] * 3,
        assembly().name: [row(joints={"a": joint(), "b": joint(force_after_catch_n=0.125)})] * 3,
    })  # fmt: skip
    assert found["wanted 5 N in a joint: off by, N"] == pytest.approx(0.5)
    assert found["wanted 1 N m in a joint: off by, N m"] == pytest.approx(0.05)
    assert found["square of four: mean force in a joint, N"] == 0.15
    assert found["square of four: position over that of a chain, worst axis"] == pytest.approx(2.0)
    assert found["square of four: angle over that of a chain, worst axis"] == pytest.approx(3.0)
    assert found["dockings in gusts, done"] == 18
    assert found["signs as printed: position, worst axis, mm (inf: ended)"] == pytest.approx(250.0)
    assert found["assembly: force 3 s after a catch, N"] == 0.125


def test_every_bar_of_a_flight_that_failed_is_infinite():
    crashed = [row(outcome="crashed")]
    names = [
        hover(4).name,
        assembly().name,
        lemniscate(3).name,
        *(f"{TITLE} {n}" for n in ("breeze", "square", "printed")),
    ]
    found = bars(quick=True, **dict.fromkeys(names, crashed))
    parts = (
        "hover, n = 4:",
        "assembly:",
        "lemniscate",
        "mean force in a joint, N",
        "at an instant, n = 4",
        "signs",
        "square",
    )
    for what, value in found.items():
        is_of_it = what.startswith(parts)
        if is_of_it and "over that of a chain" not in what:
            assert np.isinf(value), what
    assert found["hover, n = 1, white noise: error over published, worst axis"] < 1.0


def test_flights_of_the_study_have_their_settings():
    by_name = {case.name: case for case in [*cases(), *bar_cases(quick=False)]}
    assert by_name[hover(8).name].assignments == (
        "modules.count=8",
        "modules.compensation=default",
    )
    bare = by_name[hover(8, "none").name]
    assert bare.assignments[1:] == (
        "modules.compensation=none",
        "vehicles.0.reference.duration=40.0",
    )
    assert bare.published == () and bare.seeds == (1,) and hover(8).seeds == (1, 2, 3)
    assert [by_name[f"{TITLE} {name}"].seeds for name in ("gusts", "release", "square")] == [
        tuple(range(1, 21)),
        (1, 2, 3),
        (1,),
    ]
    assert by_name[f"{TITLE} breeze"].module == "m2" and by_name[f"{TITLE} release"].module is None
    assert "position_bias: 0.03" in white(hover(1)).assignments[-1]
    assert "position_bias: 0.0}" in white(assembly()).assignments[-1]
    assert all(case.seeds == (1,) for case in [*cases(quick=True), *bar_cases(quick=True)])
    counts = {case.label for case in cases(quick=True) if case.scenario == "module_hover"}
    assert not any("n = 8" in label for label in counts) and any(
        "n = 4" in label for label in counts
    )
    assert module_cases._central(5) == "m3" and module_cases._central(2) == "m1"
