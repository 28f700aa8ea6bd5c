# SPDX-License-Identifier: BSD-3-Clause
"""Every figure of modules, arms and logs draws its numbers in the unit of its labels."""

import numpy as np
import pytest
from drawn_flights import assert_draws, figure_of
from matplotlib.colors import to_hex

from iap_bringup.plots.identified_flight import (
    STYLES,
    draw_log,
    draw_path,
    draw_tracking,
    draw_velocities,
)
from iap_bringup.plots.modules import COLORS, draw_modules
from iap_bringup.plots.path_curves import PathCurves, path_curves
from iap_description.states import P, Q, V, W
from iap_io.plots.plot_style import AIRCRAFT, LIMIT, REAL, REFERENCE, SIMULATED
from iap_io.runs.columns import Columns
from iap_io.runs.run_folder import VehicleRun
from iap_physics.identified.dynamics import CHANNELS
from iap_simulation.flights.flight import Flight
from iap_simulation.identification.log import Log
from iap_simulation.modules.record import STATE_NAMES
from iap_simulation.scenario.resolving import resolved

RNG = np.random.default_rng(7)
UNITS = ("m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s", "rad/s")  # of `CHANNELS`


def modules_run(count=3, rows=60):
    """Columns of a flight of modules in which every joint goes through all states."""
    t = 0.5 * np.arange(rows)
    states = np.tile((np.arange(rows) // 8)[:, None] % len(STATE_NAMES), (1, count - 1))
    states[:, 1:] = 0  # the last joint stays apart
    return {
        "t": t,
        "states": states,
        "joint_wrenches": RNG.normal(size=(rows, count - 1, 6)),
        "errors": 1e-3 * RNG.uniform(-8.0, 8.0, size=(rows, count, 6)),
        "joints": np.array([f"j{i + 1}" for i in range(count - 1)]),
        "state_names": np.array(STATE_NAMES),
    }


def test_modules_have_states_wrenches_in_joints_and_errors_in_milli():
    columns = modules_run()
    states, *panels = figure_of(draw_modules, columns).axes
    forces, torques, errors = panels[0], panels[1], panels[2:]
    for axes, part, label in (
        (forces, slice(0, 3), "force [N]"),
        (torques, slice(3, 6), "torque [N m]"),
    ):
        sizes = np.linalg.norm(columns["joint_wrenches"][..., part], axis=-1)
        for i in range(2):
            assert_draws(axes, AIRCRAFT[i], columns["t"], sizes[:, i])
        assert axes.get_ylabel() == f"joint {label}" and axes.get_ylim()[0] == 0.0
        assert axes.get_ylim()[1] == pytest.approx(1.3 * np.quantile(sizes, 0.99))
    for k, axes in enumerate(errors):
        row, side = divmod(k, 2)
        axis = 3 * side + row
        label = ("x [mm]", "y [mm]", "z [mm]", "roll [mrad]", "pitch [mrad]", "yaw [mrad]")[axis]
        assert axes.get_ylabel() == f"error, {label}"
        for i in range(3):
            assert_draws(axes, AIRCRAFT[i], columns["t"], 1e3 * columns["errors"][:, i, axis])
        alike = 1e3 * columns["errors"][..., 3 * side : 3 * side + 3]
        most = max(1.3 * np.quantile(np.abs(alike[..., j]), 0.99) for j in range(3))
        assert axes.get_ylim() == pytest.approx((-most, most))
    assert [axes.get_xlabel() for axes in errors[-2:]] == ["time [s]"] * 2
    assert [each.get_text() for each in errors[0].get_legend().get_texts()] == [
        "module 1",
        "module 2",
        "module 3",
    ]
    assert [each.get_text() for each in forces.get_legend().get_texts()] == ["j1", "j2"]
    assert states.get_xlim() == (0.0, 29.5)


def test_states_of_joints_are_bars_from_their_begin_to_their_end():
    columns = modules_run()
    states = figure_of(draw_modules, columns).axes[0]
    drawn = {
        to_hex(bars.get_facecolor()[0]): [
            (path.vertices[:, 0].min(), path.vertices[:, 0].max(), path.vertices[:, 1].mean())
            for path in bars.get_paths()
        ]
        for bars in states.collections
    }
    assert set(drawn) == {to_hex(color) for color in COLORS.values()}
    for name, color in COLORS.items():
        rows = np.flatnonzero(np.array(STATE_NAMES)[columns["states"][:, 0]] == name)
        begins = rows[np.diff(rows, prepend=-9) > 1]
        assert [begin for begin, _, _ in drawn[to_hex(color)]] == [0.5 * k for k in begins]
        for begin, end, middle in drawn[to_hex(color)]:
            assert end == min(begin + 4.0, 29.5) and -0.4 <= middle <= 0.4
    named = [each.get_text() for each in states.get_legend().get_texts()]
    assert sorted(named) == sorted(COLORS)
    assert states.get_ylim() == (1.6, -0.6)


def test_few_errors_far_beyond_all_others_are_cut_and_said():
    columns = modules_run(rows=400)
    columns["errors"][:] = 1e-3 * np.sign(columns["errors"])
    columns["errors"][7, 1, 0], columns["errors"][:, :, 4] = -0.5, 0.05
    panels = figure_of(draw_modules, columns).axes[3:]
    assert panels[0].get_ylim() == pytest.approx((-1.3, 1.3))
    assert [each.get_text() for each in panels[0].texts] == ["up to 500"]
    assert len(panels[2].texts) == 0
    pitch = panels[3]
    assert pitch.get_ylim()[1] == pytest.approx(
        1.3
    )  # one axis alone does not flatten the other two
    assert pitch.texts[0].get_text() == "up to 50"
    columns["errors"][:] = 1e-6
    assert figure_of(draw_modules, columns).axes[3].get_ylim() == pytest.approx((0.0, 1.0))


def identified_flight():
    """A scenario of a path on an identified plant, and made-up columns of it."""
    scenario, _ = resolved("arm_path", {}, {})
    meta = Flight.of(scenario).meta.vehicles[0]
    c = Columns.zeros(50, meta)
    c.t[:] = 0.1 * np.arange(50)
    for part in (c.arm.q, c.arm.v, c.arm.target, c.wrench_P):
        part[:] = RNG.normal(size=part.shape)
    c.x[:, 0, P], c.x[:, 0, V], c.x[:, 0, W] = RNG.normal(size=(3, 50, 3))
    half = np.linspace(0.0, 1.0, 50)
    c.x[:, 0, Q] = np.stack([0.0 * half, 0.0 * half, np.sin(half), np.cos(half)], axis=-1)
    return scenario, VehicleRun(meta, c), 2.0 * half


def test_velocities_on_a_path_are_along_the_heading_and_commands_in_their_channels():
    scenario, vehicle, yaw = identified_flight()
    curves, c = path_curves(scenario, vehicle), vehicle.columns
    v = c.x[:, 0, V]
    ahead = np.cos(yaw) * v[:, 0] + np.sin(yaw) * v[:, 1]
    left = -np.sin(yaw) * v[:, 0] + np.cos(yaw) * v[:, 1]
    np.testing.assert_allclose(curves.v[:, :3], np.stack([ahead, left, v[:, 2]], axis=-1))
    np.testing.assert_array_equal(curves.v[:, 3], c.x[:, 0, W][:, 2])
    np.testing.assert_array_equal(curves.v[:, 4:], c.arm.v)
    np.testing.assert_array_equal(curves.command[:, :4], c.wrench_P[:, [0, 1, 2, 5]])
    np.testing.assert_array_equal(curves.command[:, 4:], c.arm.target[:, 1])
    np.testing.assert_array_equal(curves.q, c.arm.q)
    reach = np.linalg.norm(curves.r[:, :3] - curves.p_WP_W, axis=1)
    assert (reach > 0.02).all() and (reach < 1.5).all()
    later = path_curves(scenario, VehicleRun(vehicle.meta, replace_t(c, c.t + 1.0)))
    np.testing.assert_allclose(later.r_d[:40], curves.r_d[10:], atol=1e-9)
    assert (curves.r_d[c.t < scenario.vehicles[0].start.lead_in] == curves.r_d[0]).all()
    no_arm = replace_arm(c)
    assert path_curves(scenario, VehicleRun(vehicle.meta, no_arm)) is None
    assert path_curves(scenario, VehicleRun(vehicle.meta, c.rows(slice(0, 0)))) is None


def replace_t(c, t):
    """The same columns at other times."""
    other = c.copy()
    other.t[:] = t
    return other


def replace_arm(c):
    """The same columns without an arm."""
    other = c.copy()
    other.arm = None
    return other


def path_log():
    """Curves with other numbers in every column."""
    sizes = (3, 3, 7, 7, 4, 4)
    return PathCurves(np.arange(40.0), *(0.1 * RNG.normal(size=(40, n)) for n in sizes))


def test_a_path_is_drawn_from_above_and_from_the_side():
    log = path_log()
    for axes, (i, j), names in zip(
        figure_of(draw_path, log).axes, ((0, 1), (0, 2)), ("xy", "xz"), strict=True
    ):
        for values, style in ((log.p_WP_W, LIMIT), (log.r_d, REFERENCE), (log.r, SIMULATED)):
            assert_draws(axes, style, values[:, i], values[:, j])
        assert (axes.get_xlabel(), axes.get_ylabel()) == (f"{names[0]} (m)", f"{names[1]} (m)")
        assert axes.get_aspect() == 1.0
    assert [each.get_text() for each in axes.get_legend().get_texts()] == [
        "platform",
        "reference",
        "end effector",
    ]


def test_errors_of_an_end_effector_are_desired_less_flown_and_their_distance():
    log = path_log()
    above, below = figure_of(draw_tracking, log).axes
    for i in range(3):
        assert_draws(above, AIRCRAFT[i], log.t, (log.r_d - log.r)[:, i])
        assert_draws(below, AIRCRAFT[i], log.t, log.q[:, i])
    assert_draws(above, REFERENCE, log.t, np.linalg.norm((log.r_d - log.r)[:, :3], axis=1))
    assert above.get_ylim() == (-0.4, 0.4)
    assert (above.get_ylabel(), below.get_ylabel()) == ("error (m)", "joints (rad)")
    assert below.get_xlabel() == "time (s)"
    assert [each.get_text() for each in above.get_legend().get_texts()] == [
        "x",
        "y",
        "z",
        "distance",
    ]
    assert [each.get_text() for each in below.get_legend().get_texts()] == ["q1", "q2", "q3"]


def test_velocities_have_a_panel_for_each_channel_with_its_command():
    log = path_log()
    axes = figure_of(draw_velocities, log).axes
    for i, (panel, name, unit) in enumerate(zip(axes, CHANNELS, UNITS, strict=True)):
        assert_draws(panel, REFERENCE, log.t, log.command[:, i])
        assert_draws(panel, SIMULATED, log.t, log.v[:, i])
        assert panel.get_ylabel() == f"{name} ({unit})"
    assert axes[-1].get_xlabel() == "time (s)"
    assert [each.get_text() for each in axes[0].get_legend().get_texts()] == ["command", "flown"]


def test_a_log_is_drawn_beside_what_is_predicted_of_it():
    t, v = np.arange(30.0), RNG.normal(size=(30, 7))
    channels = ("u_l", "w", "q2_p")
    log = Log("hover_1", "hover_1.csv", t, 0.0 * v, v, np.zeros((30, 3)), channels, v < np.inf)
    names = list(STYLES)[1:]
    predictors = {name: lambda log, k=k: (k + 2) * log.v for k, name in enumerate(names)}
    axes = figure_of(draw_log, log, predictors).axes
    for panel, channel in zip(axes, channels, strict=True):
        i = CHANNELS.index(channel)
        assert panel.get_ylabel() == f"{channel} ({UNITS[i]})"
        assert_draws(panel, REAL, t, v[:, i])
        for k, name in enumerate(names):
            (line,) = [each for each in panel.lines if each.get_label() == name]
            np.testing.assert_array_equal(line.get_ydata(), (k + 2) * v[:, i])
    assert axes[0].get_title() == "hover_1" and axes[-1].get_xlabel() == "time (s)"
    assert [each.get_text() for each in axes[0].get_legend().get_texts()] == ["measured", *names]
