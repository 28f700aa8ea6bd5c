# SPDX-License-Identifier: BSD-3-Clause
"""Every figure of a flight draws its numbers in the unit of its labels, and limits and marks at their values."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_flights import (
    FAULTS,
    OFF_BY,
    TICKS,
    TURN,
    WINDOW,
    assert_draws,
    figure_of,
    flight,
    greys,
    levels,
    marks,
    series,
)
from made_up_flights import DT

from iap_bringup.plots import panels
from iap_bringup.plots.flight import (
    draw_difference,
    draw_errors,
    draw_joints,
    draw_overview,
    draw_pose,
    draw_thrusts,
)
from iap_bringup.plots.flight_curves import flight_curves
from iap_description.vehicles.faults import RotorFault
from iap_io.plots.plot_style import AIRCRAFT, DIFFERENCE, REAL, REFERENCE, SIMULATED
from iap_io.runs.columns import Columns
from iap_io.runs.run_folder import VehicleRun
from iap_io.runs.run_meta import RunMeta
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import resolved


def test_poses_are_in_metres_and_degrees_beside_reference_and_real_flight():
    made = flight()
    figure = figure_of(draw_pose, made)
    for i, axes in enumerate(figure.axes[::2] + figure.axes[1::2]):
        name, axis = ("position", i) if i < 3 else ("angles", i - 3)
        assert (
            axes.get_ylabel()
            == ("x [m]", "y [m]", "z [m]", "roll [deg]", "pitch [deg]", "yaw [deg]")[i]
        )
        assert_draws(axes, SIMULATED, made.t, getattr(made.simulated, name)[:, axis])
        assert_draws(axes, REAL, made.real.t, getattr(made.real, name)[:, axis])
        if i < 3 or made.meta.controlled[axis]:
            assert_draws(axes, REFERENCE, made.reference.t, getattr(made.reference, name)[:, axis])
        assert np.ptp(axes.get_ylim()) >= (0.1 if i < 3 else 2.0)
    assert np.median(made.simulated.angles, axis=0) == pytest.approx(np.rad2deg(TURN), abs=0.5)
    np.testing.assert_allclose(
        made.real.position - made.reference.position, np.tile(OFF_BY, (len(made.real.t), 1))
    )


def test_a_pose_that_hardly_moves_fills_no_panel():
    made = flight()
    still = replace(made.simulated, position=1e-6 * made.simulated.position + [1.0, 2.0, 3.0])
    made = replace(made, simulated=still, real=None, reference=replace(still, angles=still.angles))
    for axes, middle in zip(figure_of(draw_pose, made).axes[::2], (1.0, 2.0, 3.0), strict=True):
        assert axes.get_ylim() == pytest.approx((middle - 0.05, middle + 0.05), abs=1e-5)


def test_what_a_platform_does_not_control_is_grey_and_without_a_reference():
    made = flight("two_line")
    free = made.meta.free_axis
    (panel,) = [
        axes
        for axes in figure_of(draw_pose, made).axes
        if axes.texts and "free" in axes.texts[0].get_text()
    ]
    assert panel.texts[0].get_text() == f"{panels.ANGLES[free]} is free"
    assert series(panel, REFERENCE) == []
    follows = replace(made, meta=made.meta.model_copy(update={"controlled": (False, False, True)}))
    said = [
        each.get_text() for axes in figure_of(draw_errors, follows).axes for each in axes.texts
    ]
    assert sorted(said) == sorted(
        f"{name} is free" if i == follows.meta.free_axis else f"{name} follows from the thrust"
        for i, name in enumerate(panels.ANGLES[:2])
    )
    unfollowed = replace(made, is_followed=False)
    assert not any(series(axes, REFERENCE) for axes in figure_of(draw_pose, unfollowed).axes)
    assert not any(axes.texts for axes in figure_of(draw_pose, unfollowed).axes)


@pytest.mark.parametrize(("size", "unit", "scale"), [(0.05, "mm", 1e3), (0.9, "m", 1.0)])
def test_errors_are_in_the_unit_of_their_size_with_the_figures_of_the_metrics(size, unit, scale):
    made = flight()
    position = size * np.random.default_rng(5).uniform(-1.0, 1.0, made.error.position.shape)
    made = replace(made, error=replace(made.error, position=position))
    made = replace(made, real_error=replace(made.real_error, position=-0.5 * position))
    figure = figure_of(draw_errors, made)
    inside = (made.error.t >= WINDOW[0] - 1e-9) & (made.error.t <= WINDOW[1] + 1e-9)
    for i, axes in enumerate(figure.axes[::2]):
        assert axes.get_ylabel() == f"{'xyz'[i]} error [{unit}]"
        assert_draws(axes, SIMULATED, made.error.t, scale * position[:, i])
        assert_draws(axes, REAL, made.real_error.t, -0.5 * scale * position[:, i])
        rmse = scale * np.sqrt(np.mean(position[inside, i] ** 2))
        assert f"RMSE {rmse:.3g} {unit}" in [t.get_text() for t in axes.get_legend().get_texts()]
        assert 0.0 in levels(axes)
        assert axes.get_ylim()[0] == pytest.approx(-1.1 * scale * np.abs(position).max())
    for i, axes in enumerate(figure.axes[1::2]):
        assert axes.get_ylabel() == f"{panels.ANGLES[i]} error [deg]"
        if made.meta.controlled[i]:
            assert_draws(axes, SIMULATED, made.error.t, made.error.attitude[:, i])
    named = [each.get_text() for each in figure.legends[0].get_texts()]
    assert named == ["real \u2212 reference", "simulated \u2212 reference"]
    assert figure.axes[-1].get_xlabel() == figure.axes[-2].get_xlabel() == "time [s]"


def test_the_difference_is_simulated_less_real():
    made = flight()
    figure = figure_of(draw_difference, made)
    there = np.searchsorted(made.t, made.real.t - 1e-9)
    off = made.simulated.position[there] - made.real.position
    for i, axes in enumerate(figure.axes[::2]):
        assert_draws(axes, DIFFERENCE, made.real.t, 1e3 * off[:, i])


@pytest.mark.parametrize("draw", [draw_pose, draw_errors, draw_thrusts])
def test_every_panel_greys_what_is_not_scored_and_marks_faults_where_they_strike(draw):
    made = flight(faults=FAULTS)
    figure = figure_of(draw, made)
    last = float(made.t[-1])
    for axes in figure.axes:
        assert axes.get_xlim() == (0.0, last)
        assert greys(axes) == pytest.approx(np.array([(0.0, WINDOW[0]), (WINDOW[1], last)]))
        assert sorted(marks(axes)) == [0.3, 0.6]
    said = [
        each for axes in figure.axes for each in axes.texts if str(FAULTS[0]) in each.get_text()
    ]
    (note,) = said
    assert note.xy[0] == 0.3 and note.get_ha() == "left"


def test_a_fault_late_in_a_flight_is_named_to_its_left_and_one_after_it_not_at_all():
    late = tuple(RotorFault(at=at, aircraft=1, rotor=2, thrust=0.5) for at in (0.7, 5.0))
    figure = figure_of(draw_pose, flight(faults=late))
    (note,) = [each for axes in figure.axes for each in axes.texts if "rotor" in each.get_text()]
    assert note.xy[0] == 0.7 and note.get_ha() == "right"
    assert marks(figure.axes[0]) == [0.7]


def test_a_flight_that_is_scored_throughout_has_nothing_grey():
    made = replace(flight(), window=(0.0, 100.0))
    assert not any(axes.patches for axes in figure_of(draw_errors, made).axes)


def test_thrusts_and_tilts_have_their_limits_at_their_values():
    made = flight("three_star")
    near = made.meta.limits[0].model_copy(update={"thrust": (1.0, 9.0), "tilt_max_deg": 25.0})
    meta = made.meta.model_copy(update={"unlike": (near,) * made.meta.count})
    thrust = np.tile(np.linspace(2.0, 8.0, TICKS)[:, None], (1, made.meta.count)) + np.arange(
        made.meta.count
    )
    made = replace(made, meta=meta, thrust=thrust, tilt=2.0 * thrust)
    upper, lower = figure_of(draw_thrusts, made).axes
    for i in range(made.meta.count):
        assert_draws(upper, AIRCRAFT[i], made.t, thrust[:, i])
        assert_draws(lower, AIRCRAFT[i], made.t, 2.0 * thrust[:, i])
    assert levels(upper) == [1.0, 9.0] and levels(lower) == [25.0]
    said = [each.get_text() for each in (*upper.texts, *lower.texts)]
    assert said == ["lower limit 1 N", "limit 9 N", "limit of commands 25 deg"]
    far = near.model_copy(update={"thrust": (0.5, 60.0)})
    made = replace(made, meta=meta.model_copy(update={"unlike": (far,) * made.meta.count}))
    upper, _ = figure_of(draw_thrusts, made).axes
    assert levels(upper) == [0.5]
    assert upper.texts[-1].get_text() == f"limit 60 N {panels.ABOVE}"
    assert upper.texts[-1].xy[1] > 8.0


def test_the_overview_has_sizes_of_errors_and_all_thrusts():
    made = flight("three_star")
    _, position, attitude, thrusts = figure_of(draw_overview, made).axes
    assert_draws(
        position, SIMULATED, made.error.t, 1e3 * np.linalg.norm(made.error.position, axis=1)
    )
    assert_draws(
        attitude, SIMULATED, made.error.t, np.sqrt(np.nansum(made.error.attitude**2, axis=1))
    )
    for axes, values, scale in (
        (position, made.error.position, 1e3),
        (attitude, made.error.attitude, 1.0),
    ):
        inside = values[made.error.inside]
        rmse = scale * np.sqrt(np.mean(np.nansum(inside**2, axis=1)))
        text = axes.get_legend().get_texts()[0].get_text()
        assert text.startswith(f"RMSE {rmse:.3g} ")
    for i in range(made.meta.count):
        assert_draws(thrusts, AIRCRAFT[i], made.t, made.thrust[:, i])
    assert [each.get_text() for each in thrusts.get_legend().get_texts()] == [
        "aircraft",
        "1",
        "2",
        "3",
    ]
    assert thrusts.get_ylim()[1] > made.thrust.max()
    assert thrusts.get_xlabel() == "time [s]" and position.get_xlabel() == ""
    assert np.ptp(thrusts.get_ylim()) >= 0.2 * made.thrust.max()


def test_the_overview_of_an_unfollowed_vehicle_has_its_speed_and_largest_tilt():
    made = flight("three_star")
    t = made.t[:, None]
    moving = replace(made.simulated, position=np.hstack([3.0 * t, 4.0 * t, 0.0 * t]))
    made = replace(made, simulated=moving, is_followed=False)
    _, speed, tilt, _ = figure_of(draw_overview, made).axes
    assert_draws(speed, SIMULATED, made.t, np.full(TICKS, 5.0))
    assert speed.get_ylim() == pytest.approx((0.0, 5.5))
    assert_draws(tilt, SIMULATED, made.t, made.tilt.max(axis=1))
    still = replace(
        made, simulated=replace(moving, position=np.zeros((TICKS, 3))), tilt=0.0 * made.tilt
    )
    _, speed, tilt, _ = figure_of(draw_overview, still).axes
    assert speed.get_ylim()[1] == pytest.approx(0.11) and tilt.get_ylim()[1] == pytest.approx(1.1)
    assert (
        len(replace(made, t=made.t[:1]).speed) == 1 and replace(made, t=made.t[:1]).speed[0] == 0.0
    )


def test_joints_of_an_arm_have_coordinate_speed_and_effort_beside_their_commands_in_their_units():
    scenario, _ = resolved("arm_hover_swing", {}, {})
    meta = Flight.of(scenario).meta.vehicles[0]
    c, n = Columns.zeros(TICKS, meta), len(meta.arm_joints)
    c.t[:] = DT * np.arange(TICKS)
    c.x[..., 6] = c.reference[:, 6] = 1.0
    rng = np.random.default_rng(1)
    for part in (c.arm.q, c.arm.v, c.arm.efforts, c.arm.target):
        part[:] = rng.normal(size=part.shape)
    limits = ((-0.7, 0.8), *((-90.0, 90.0),) * (n - 1))
    meta = meta.model_copy(update={"arm_limits": limits})
    run = RunMeta(scenario="m", seed=1, physics_hz=1e3, control_hz=1.0 / DT, vehicles=(meta,))
    made = flight_curves(run, VehicleRun(meta, c))
    figure = figure_of(draw_joints, made)
    assert len(figure.axes) == 3 * n
    for i, axes in enumerate(figure.axes):
        joint, column = divmod(i, 3)
        values = (c.arm.q, c.arm.v, c.arm.efforts)[column][:, joint]
        assert_draws(axes, SIMULATED, c.t, values)
        assert_draws(axes, REFERENCE, c.t, c.arm.target[:, column, joint])
        kind = meta.arm_chain.kinds[joint]
        unit = (("rad", "rad/s", "N m"), ("m", "m/s", "N"))[kind][column]
        assert axes.get_ylabel().endswith(f"[{unit}]")
        assert ("speed" in axes.get_ylabel()) == (column == 1)
        assert ("effort" in axes.get_ylabel()) == (column == 2)
        assert axes.get_ylabel().startswith(meta.arm_joints[joint].removeprefix("arm_"))
        assert levels(axes) == ([-0.7, 0.8] if i == 0 else [])
        assert (axes.get_xlabel() == "time [s]") == (joint == n - 1)
    assert figure.get_figheight() == pytest.approx(0.9 + 1.25 * n)
    for part in (made.arm.q, made.arm.target, made.arm.v, made.arm.efforts):
        part[:] = 0.1 + 1e-5 * part
    heights = [np.ptp(axes.get_ylim()) for axes in figure_of(draw_joints, made).axes[:3]]
    assert heights == pytest.approx([0.02, 0.05, 0.01])
