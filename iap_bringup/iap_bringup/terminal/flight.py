# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a flight on the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.filesize import decimal
from rich.table import Column, Table

from iap_bringup.terminal.console import headline
from iap_bringup.terminal.next_step import show_path, show_view
from iap_bringup.terminal.part_texts import TEXTS, show_end_effector
from iap_bringup.terminal.tables import number_text
from iap_description.process.compiling import NOTICE, UNNOTICED
from iap_io.runs.fault_meta import Notice
from iap_simulation.runs.run import Result
from iap_simulation.scenario.scenario import Scenario

LEAST_SIZE = 0.001  # that is shown [mm, deg, ...]
CONTACT_ROWS = (  # key of metrics.json, what it is, factor, digits; in the order of what they say
    ("force_rmse_n", "force RMSE x y z, N", 1.0, 3),
    ("force_steady_n", "steady force, N", 1.0, 2),
    ("force_max_n", "largest force (filtered), N", 1.0, 2),
    ("approach_speed_max_mps", "largest speed of the force axes, m/s", 1.0, 3),
    ("tip_path_rmse_m", "tip off its path across the force, RMS, mm", 1e3, 2),
    ("depth_m", "depth of the tool's tip in the bore, m", 1.0, 3),
    ("settled_pitch_deg", "settled command: tool below level, deg", 1.0, 2),
    ("torque_rmse_nm", "torque RMSE x y z, N m", 1.0, 3),
    ("contact_losses", "contact lost, times", 1.0, 0),
)
OF_POLICIES = ("task", "docking", "modules")  # keys with a policy's own figures, forces among them
LONG_WORD = 14  # letters, more than a column keeps of its own where several do not fit
CONTACT_COUNT = 5  # rows at most; metrics.json has all figures


def flight_text(scenario: Scenario, duration: float) -> str:
    """The line above the bar of a flight of some duration [s], as `headline`: who flies, and in which engine."""
    engine = f", engine {scenario.engine.name}" if scenario.plant.type == "bodies" else ""
    names = ", ".join(f"{v.platform.name} ({v.control.preset} gains)" for v in scenario.vehicles)
    text = f"{names}, {duration:.1f} s, seed {scenario.seed}{engine}"
    return headline(scenario.scenario, text)


def space_text(size: int, free: int) -> str:
    """The space that a recording takes [bytes]."""
    return f"recording takes about {decimal(size)} of {decimal(free)} that are free"


def show_notice(console: Console, notice: Notice) -> None:
    """Show a notice of a fault, as a warning where the platform will come down."""
    style = "bold yellow" if notice.is_warning else None
    text = f"warning: {notice.text}" if notice.is_warning else notice.text
    console.print(text, style=style, highlight=False, soft_wrap=True)


def show(console: Console, result: Result) -> None:
    """Outcome of a flight, its errors, and last the paths of its files."""
    NOTICE.tell()
    metrics = result.metrics
    console.print(result.summary, style="bold", highlight=False, soft_wrap=True)
    vehicles = metrics.get("vehicles") or {_name(result): metrics}
    arm = metrics.get("arm", {})
    follow_path = "joint_range_rad" in arm
    followed = {name: one for name, one in vehicles.items() if name in result.followers}
    has_forces = "policy" in metrics and any(key in metrics for key in OF_POLICIES)
    if followed and not follow_path:
        console.print(error_table(followed))
    for one in vehicles.values():
        if "force_max_n" in one and not has_forces:
            console.print(_contact_table(one, metrics.get("compare", {})))
    if follow_path:
        show_end_effector(console, arm, metrics.get("compare", {}))
    for key, text in TEXTS.items():
        if line := text(metrics) if key in metrics else "":
            console.print(line, highlight=False)
    console.print(_duration_text(metrics), highlight=False)
    show_path(console, result.folder, "run folder")
    show_view(console, result.folder)


def _name(result: Result) -> str:
    """The only vehicle's name, where its reference is followed."""
    return next(iter(result.followers), "")


def _duration_text(metrics: dict[str, Any]) -> str:
    start, end = metrics["window_s"]
    counted = f"errors over {start:.1f} to {end:.1f} s"
    if end <= start:
        counted = f"no errors, which count from {start:.1f} s on"
    speed = (
        f" ({metrics['real_time_factor']:.1f} x real time), control step {metrics['control_step_us']:.0f} us,"
        f"{_compiled_text(metrics)}"
    )
    if NOTICE.elapsed > UNNOTICED:  # of machine code: the speed of this flight says nothing
        speed = f", compiled for {NOTICE.elapsed:.0f} s, which the next flight saves,"
    return f"{metrics['duration_s']:.1f} s flown in {metrics['wall_s']:.1f} s{speed} {counted}"


def _compiled_text(metrics: dict[str, Any]) -> str:
    """The share of control periods that the compiled run has flown, if it has flown any."""
    share = metrics.get("compiled_fraction", 0.0)
    return f" {100.0 * share:.0f} % of the control periods compiled," if share > 0.0 else ""


def error_table(vehicles: Mapping[str, dict[str, Any]]) -> Table:
    """Errors of vehicles that follow references: rows of one vehicle, or a row for each of several."""
    rows = {name: _error_rows(one) for name, one in vehicles.items()}
    if len(rows) > 1:
        titles = list(dict.fromkeys(title for each in rows.values() for title in each))
        table = Table("RMSE, largest thrust", *map(_column, titles))
        for name, each in rows.items():
            in_order = [each.get(title, ("", "")) for title in titles]
            table.add_row(name, *(rmse or most for rmse, most in in_order))
        return table
    table = Table("error", *(Column(title, justify="right") for title in ("RMSE", "largest")))
    for each in rows.values():
        for title, cells in each.items():
            table.add_row(title, *cells)
    return table


def _column(title: str) -> Column:
    """A column that folds at the spaces of its title, but never within a long word of it."""
    longest = max(map(len, title.split()))
    return Column(title, overflow="fold", width=longest if longest > LONG_WORD else None)


def _error_rows(one: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """RMSE and largest error by what they are of; axes of a controlled wrench have no error of the pose."""
    if (
        one.get("held_position_rmse_m") is not None
        or one.get("held_attitude_rmse_deg") is not None
    ):
        rows = {
            "position of axes without force, mm": (_size(one["held_position_rmse_m"], 1e3), ""),
            "attitude of axes without torque, deg": (_size(one["held_attitude_rmse_deg"]), ""),
        }
    else:
        rows = {
            "position, mm": (
                _size(one["position_rmse_m"], 1e3),
                _sizes(one["position_max_m"], "x y z", 1e3),
            ),
            "attitude, deg": (
                _sizes(one["attitude_rmse_deg"], "roll pitch yaw"),
                _sizes(one["attitude_max_deg"], "roll pitch yaw"),
            ),
        }
    rows["thrust of an aircraft, N"] = ("", _size(one["thrust_max_n"]))
    if one["axis_rmse_deg"] is not None:
        rows["direction of the line, deg"] = (_size(one["axis_rmse_deg"]), "")
    if one["actual_position_rmse_m"] is not None:
        rows["against the recorded flight, mm"] = (_size(one["actual_position_rmse_m"], 1e3), "")
        turns = _sizes(one["actual_attitude_rmse_deg"], "roll pitch yaw")
        rows["against the recorded flight, deg"] = (turns, "")
    for key in ("contact", "estimated"):
        if one.get(f"{key}_force_rmse_n") is not None:
            force, torque = (one[f"{key}_{what}"] for what in ("force_rmse_n", "torque_rmse_nm"))
            rows[f"{key} force against the measured, N"] = (_sizes(force, "x y z"), "")
            rows[f"{key} torque against the measured, N m"] = (_sizes(torque, "x y z"), "")
    for body, methods in one.get("estimation", {}).items():
        for method, each in methods.items():
            sizes = (_size(each["ate_rmse_m"], 1e3), _size(each["ate_max_m"], 1e3))
            rows[f"{method}'s estimate of {body}, mm"] = sizes
    return {title: cells for title, cells in rows.items() if any(cells)}


def _contact_table(metrics: dict[str, Any], compare: dict[str, dict[str, Any]]) -> Table:
    """Contact of a flight, beside the flights that it is compared with."""
    flights = {"this flight": metrics, **compare}
    table = Table("contact")
    for name in flights:
        table.add_column(name, justify="right")
    for key, title, factor, digits in CONTACT_ROWS:
        values = [_scaled(one.get(key), factor) for one in flights.values()]
        if any(_is_known(value) for value in values) and table.row_count < CONTACT_COUNT:
            table.add_row(title, *(number_text(value, digits) for value in values))
    return table


def _scaled(value: Any, factor: float) -> Any:  # noqa: ANN401 - a number, several, or none
    if isinstance(value, list):
        return [_scaled(each, factor) for each in value]
    return None if value is None else factor * value


def _is_known(value: Any) -> bool:  # noqa: ANN401 - a number, several, or none
    return any(map(_is_known, value)) if isinstance(value, list) else value is not None


def _sizes(values: Sequence[float | None] | None, names: str, factor: float = 1.0) -> str:
    """Three sizes, each behind its name, without those of what is free."""
    pairs = list(zip(names.split(), values or (None, None, None), strict=True))
    if values and all(value is not None and factor * value < LEAST_SIZE for value in values):
        return _size(0.0)
    return "\n".join(
        f"{name} {_size(value, factor)}" for name, value in pairs if value is not None
    )


def _size(value: float | None, factor: float = 1.0) -> str:
    """A size with three digits."""
    if value is None:
        return ""
    size = factor * value
    if size < LEAST_SIZE:
        return f"< {LEAST_SIZE:g}"
    return f"{size:.0f}" if size >= 100.0 else f"{size:#.3g}" if size >= 0.1 else f"{size:.3f}"
