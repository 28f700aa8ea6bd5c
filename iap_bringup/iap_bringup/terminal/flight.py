# SPDX-License-Identifier: BSD-3-Clause
"""Progress and the tables of a flight on the terminal."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from iap_bringup.terminal.end_effector import show_end_effector
from iap_bringup.terminal.tables import number_text
from iap_control.modules.losses import ModuleLoss
from iap_io.runs.fault_meta import Notice
from iap_simulation.scenario.scenario import Scenario

FLIGHT_TIME = "{task.completed:6.1f} of {task.total:.1f} s"
CONTACT_ROWS = (  # key of metrics.json, what it is, digits
    ("first_contact_s", "first contact, s", 2),
    ("force_max_n", "largest force (filtered), N", 1),
    ("force_steady_n", "steady force, N", 1),
    ("force_rmse_n", "force RMSE x y z, N", 3),
    ("torque_rmse_nm", "torque RMSE x y z, N m", 3),
    ("lever_torque_rmse_nm", "torque against the tool's lever, N m", 3),
    ("force_band_fraction", "share of the time within the band of force", 4),
    ("contact_fraction", "share of the time in contact", 4),
    ("contact_losses", "contact lost, times", 0),
    ("approach_speed_max_mps", "largest speed of the force axes, m/s", 3),
    ("held_position_rmse_m", "position RMSE of the held axes, m", 4),
    ("tip_path_rmse_m", "path RMSE of the tool's tip across the force, m", 4),
    ("held_attitude_rmse_deg", "attitude RMSE of the held axes, deg", 3),
    ("pose_integral", "integral of the pose errors, N and N m", 3),
    ("wrench_integral", "integral of the wrench errors, N and N m", 3),
    ("integral_imbalance", "what is left of the growth of both, relative", 3),
    ("depth_m", "depth of the tool's tip in the bore, m", 3),
    ("bore_offset_m", "rod's axis off the bore's at its ends, m", 4),
    ("settled_pitch_deg", "settled command: tool below level, deg", 2),
    ("pitch_command_std_deg", "its standard deviation, deg", 3),
)


def progress_bar(columns: Sequence[ProgressColumn], console: Console) -> Progress:
    """A bar that goes away when it is done, and is seen on terminals alone."""
    hidden = not console.is_terminal
    return Progress(
        *columns, console=console, transient=True, refresh_per_second=5, disable=hidden
    )


@contextmanager
def time_bar(
    console: Console, what: str, total: float | None = None
) -> Iterator[Callable[[float], None]]:
    """A bar over time [s], whose end may be unknown, below lines of text; yields the function that moves it.

    The text stays once the time moves: what is refused before has nothing above its one line.
    """
    text = "{task.completed:6.1f} s of data" if total is None else FLIGHT_TIME
    columns = (
        BarColumn(40),
        TextColumn(text),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with progress_bar(columns, console) as bar:
        task = bar.add_task(what, total=total)

        def move(t: float) -> None:
            if bar.tasks[0].description:
                bar.print(what, soft_wrap=True)
                bar.update(task, description="")
            bar.update(task, completed=t)

        yield move


def flight_text(scenario: Scenario, duration: float) -> str:
    """The line above the bar of a flight of some duration [s]."""
    names = ", ".join(f"{v.platform.name} ({v.control.preset} gains)" for v in scenario.vehicles)
    return f"[bold]{scenario.scenario}[/]: {names}, {duration:.1f} s, seed {scenario.seed}"


def sensors_text(notes: Sequence[str], size: int, free: int) -> str:
    """Lines of the rates that are not what was asked for, and of the space that the recording takes [bytes]."""
    space = f"recording takes about {decimal(size)} of {decimal(free)} that are free"
    return "\n".join([*notes, space])


def show_notice(console: Console, notice: Notice) -> None:
    """Show a notice of a fault, as a warning where the platform will come down."""
    style = "bold yellow" if notice.is_warning else None
    text = f"warning: {notice.text}" if notice.is_warning else notice.text
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def show(console: Console, metrics: dict[str, Any], folder: Path) -> None:
    """The table of tracking errors, and where everything is."""
    vehicles = metrics.get("vehicles") or {"": metrics}
    has_path = "joint_range_rad" in metrics.get("arm", {})
    for name, one in vehicles.items():
        if not has_path:
            console.print(_error_table(name, one))
        if "force_max_n" in one:
            console.print(_contact_table(one, metrics.get("compare", {})))
    start, end = metrics["window_s"]
    factor = metrics["real_time_factor"]
    console.print(
        f"{metrics['outcome']}: {metrics['duration_s']:.1f} s in {metrics['wall_s']:.2f} s"
        f" ({factor:.1f} x real time), control step {metrics['control_step_us']:.0f} us,"
        f"{_compiled_text(metrics)}"
        f" errors over {start:.1f} to {end:.1f} s"
    )
    if "docking" in metrics:
        console.print(docking_text(metrics["docking"]))
    if has_path:
        show_end_effector(console, metrics["arm"], metrics.get("compare", {}))
    elif "arm" in metrics:
        console.print(arm_text(metrics["arm"], metrics.get("compare", {})), highlight=False)
    if metrics.get("modules", {}).get("joints"):
        console.print(modules_text(metrics["modules"]))
    if metrics.get("images"):
        rate = metrics["images_per_s"]
        console.print(f"{metrics['images']} images, {rate:.0f} in a second of rendering")
    _show_touches(console, metrics)
    console.print(f"run folder: {folder}", soft_wrap=True)


def _show_touches(console: Console, metrics: dict[str, Any]) -> None:
    """Lines of landings and collisions."""
    if "landing" in metrics:
        console.print(landing_text(metrics["landing"]), highlight=False)
    for collision in metrics.get("collisions", []):
        console.print(
            f"collision at {collision['t_s']:.3f} s: {' and '.join(collision['vehicles'])}"
        )


def _compiled_text(metrics: dict[str, Any]) -> str:
    """The share of control periods that the compiled run has flown, if it has flown any."""
    share = metrics.get("compiled_fraction", 0.0)
    return f" {100.0 * share:.0f} % of the control periods compiled," if share > 0.0 else ""


def _error_table(name: str, metrics: dict[str, Any]) -> Table:
    table = Table(title=name or None)
    for column in ("error", "RMSE", "largest"):
        table.add_column(column, justify="left" if column == "error" else "right")
    table.add_row(
        "position, m",
        _number(metrics["position_rmse_m"], 4),
        _triple(metrics["position_max_m"], "x y z", 4),
    )
    table.add_row(
        "attitude, deg",
        _triple(metrics["attitude_rmse_deg"], "roll pitch yaw", 3),
        _triple(metrics["attitude_max_deg"], "roll pitch yaw", 3),
    )
    if metrics["axis_rmse_deg"] is not None:
        table.add_row("direction of the line, deg", _number(metrics["axis_rmse_deg"], 3), "")
    table.add_row("velocity, m/s", _number(metrics["velocity_rmse_mps"], 4), "")
    if metrics["actual_position_rmse_m"] is not None:
        table.add_row(
            "against recorded flight, m", _number(metrics["actual_position_rmse_m"], 4), ""
        )
        real = _triple(metrics["actual_attitude_rmse_deg"], "roll pitch yaw", 3)
        table.add_row("against recorded flight, deg", real, "")
    table.add_row("thrust of an aircraft, N", "", _number(metrics["thrust_max_n"], 1))
    for body, methods in metrics.get("estimation", {}).items():
        for method, one in methods.items():
            sizes = (_number(one[key], 4) for key in ("ate_rmse_m", "ate_max_m"))
            table.add_row(f"{method}'s estimate of {body}, m", *sizes)
    return table


def _contact_table(metrics: dict[str, Any], compare: dict[str, dict[str, Any]]) -> Table:
    """Contact of a flight, beside the flights that it is compared with."""
    flights = {"this flight": metrics, **compare}
    table = Table("contact")
    for name in flights:
        table.add_column(name, justify="right")
    for key, title, digits in CONTACT_ROWS:
        values = [one.get(key) for one in flights.values()]
        if any(value is not None for value in values):
            table.add_row(title, *(number_text(value, digits) for value in values))
    return table


def _triple(values: Sequence[float | None] | None, names: str, digits: int) -> str:
    """Three values, each behind its name."""
    pairs = zip(names.split(), values or (None, None, None), strict=True)
    return "\n".join(f"{name} {_number(value, digits)}" for name, value in pairs)


def _number(value: float | None, digits: int) -> str:
    return "free" if value is None else f"{value:.{digits}f}"


def arm_text(arm: dict[str, Any], compare: dict[str, dict[str, Any]]) -> str:
    """Lines of key `arm` of metrics.json, of this flight and of those beside it, one line each."""
    flights = {"": arm} | {name: one["arm"] for name, one in compare.items() if "arm" in one}
    return "\n".join(_arm_line(name, one) for name, one in flights.items())


def _arm_line(name: str, arm: dict[str, Any]) -> str:
    parts = [
        f"{what} {1e3 * arm[f'{key}_rmse_m']:.1f} mm RMS, largest {1e3 * arm[f'{key}_max_m']:.1f} mm"
        for key, what in (("base", "platform"), ("tip", "end effector"))
        if arm.get(f"{key}_rmse_m") is not None
    ]
    if "picked" in arm:
        off = arm["place_error_m"]
        parts.append(f"object placed {1e3 * off:.1f} mm off" if off is not None else "object lost")
    clipped = {joint: count for joint, count in arm["clipped_commands"].items() if count}
    if clipped:
        counts = ", ".join(f"{count} to {joint}" for joint, count in clipped.items())
        parts.append(f"commands beyond the arm's limits, and clipped: {counts}")
    return f"arm{f', {name}' if name else ''}: {'; '.join(parts) or 'nothing was flown in the window'}"


def docking_text(docking: dict[str, Any]) -> str:
    """One line of what key `docking` of metrics.json says."""
    force = f"largest force {docking['force_peak_n']:.0f} N"
    caught = [event for event in docking["events"] if event["what"] == "caught"]
    if not caught:
        return f"docking: no latch caught, {force}"
    last = caught[-1]
    result, end = "caught", ""
    if docking["success"]:
        result = "docked"
        end = f", locked at {docking['lock_time_s']:.2f} s, calm until {docking['docking_time_s']:.2f} s"
    return (
        f"docking: {result} at {last['t_s']:.2f} s, {1e3 * last['depth_m']:.0f} mm deep,"
        f" {1e3 * last['radius_m']:.1f} mm off the axis, closing at {last['closing_mps']:.2f} m/s, {force}{end}"
    )


def landing_text(landing: dict[str, Any]) -> str:
    """Lines of key `landing` of metrics.json, one for each vehicle that came down."""
    return "\n".join(_landing_line(name, one) for name, one in landing["vehicles"].items())


def _landing_line(name: str, landing: dict[str, Any]) -> str:
    cut, end = landing["cut_height_m"], "still turning at the end"
    if cut is not None:
        end = f"ended {1e3 * max(cut, 0.0):.0f} mm above the ground"
    stands = "stands" if landing["stands"] else "does not stand"
    return (
        f"{name} touched the ground at {landing['touch_speed_mps']:.2f} m/s, largest force of 5 ms"
        f" {landing['force_n']:.0f} N, rotors {end}; it {stands}"
    )


def modules_text(modules: dict[str, Any]) -> str:
    """Lines of what key `modules` of metrics.json says: one for each joint, and the largest wrench that was left."""
    lines = [_joint_text(name, joint) for name, joint in modules["joints"].items()]
    lost = modules["lost"]
    lines += [f"t = {each['t']:.3f} s: {ModuleLoss(**each)}" for each in lost]
    force, torque = modules["joint_force_n"], modules["joint_torque_nm"]
    if force is not None and torque is not None:
        lines.append(f"modules: largest mean wrench in a joint {force:.3f} N, {torque:.4f} N m")
    return "\n".join(lines)


def _joint_text(name: str, joint: dict[str, Any]) -> str:
    parts = [f"joint {name}:"]
    caught, released = joint["caught_s"], joint["released_s"]
    if caught is not None:
        parts.append(f"caught at {caught:.2f} s")
    else:
        parts.append("never joined" if joint["force_n"] is None else "joined from the start")
    if joint["returns"]:
        parts.append(f"after {joint['returns']} lost approaches")
    if released is not None:
        parts.append(f"and released at {released:.2f} s")
    return " ".join(parts)
