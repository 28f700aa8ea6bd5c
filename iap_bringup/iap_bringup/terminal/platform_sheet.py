# SPDX-License-Identifier: BSD-3-Clause
"""The sheet of ``iap list --platform NAME``: how each aircraft's thrust turns, and which wrenches all make together."""

import math

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from iap_bringup.terminal.console import headline
from iap_control.actuation.kinds import platform_model
from iap_control.allocation.model import PlatformModel
from iap_control.allocation.thrust_directions import CROSSED, FIXED, FREE, HINGED
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import AXES
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform

THRUSTS = {
    FREE: "any way",
    CROSSED: "any way, headed with the platform",
    HINGED: "across its hinge",
    FIXED: "with the platform",
}


def show_platform(name: str, console: Console) -> None:
    """Print joints, limits, rank of the wrench map and controllable directions of a platform.

    Raises:
        BadInput: there is no such platform.
    """
    platform = load_platform(name)
    assembly = Assembly.of(platform)
    first = f"[bold]{escape(platform.name)}[/]  {escape(platform.description)}"
    console.print(first, markup=True)
    console.print(
        f"mass {assembly.mass:.3g} kg, {platform.count} aircraft, thrust"
        f" {sum(a.thrust_limits[1] for a in platform.fleet):.3g} N of {assembly.mass * GRAVITY:.3g} N of weight"
    )
    try:
        model = platform_model(assembly, platform.fleet, gravity=GRAVITY, com_coupling=True)
    except BadInput as error:
        console.print(headline("not flown", str(error)), highlight=False, markup=True)
        return
    if platform.joints:
        console.print(_joints(assembly, model))
    reach = model.reach
    console.print(f"rank of the wrench map {reach.rank} of 6, law {model.actuation.law}")
    console.print(
        "singular values of forces and of torques per longest lever: "
        + ", ".join(f"{s:.2f}" for s in reach.singular[: reach.rank])
    )
    controlled = (True, True, True, *model.controlled_angles)
    follows = [axis for axis, is_so in zip(AXES, controlled, strict=True) if is_so]
    others = [axis for axis in AXES if axis not in follows]
    console.print(f"follows references in {', '.join(follows)}" + _but(others, model))


def _but(others: list[str], model: PlatformModel) -> str:
    if not others:
        return ""
    return f"; {' and '.join(others)} {model.actuation.uncontrolled}"


def _joints(assembly: Assembly, model: PlatformModel) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("joint", "type", "axes in P", "thrust, N", "travel", "thrust turns"):
        table.add_column(title)
    for i, joint in enumerate(assembly.joints):
        axes = so3.rotate(joint.q_PJ, joint.axes) if len(joint.axes) else np.zeros((0, 3))
        low, high = model.fleet[i].thrust_limits
        table.add_row(
            joint.name,
            joint.type,
            " ".join(f"({x:.2g} {y:.2g} {z:.2g})" for x, y, z in (axes.round(3) + 0.0).tolist()),
            f"{low:.2g} to {high:.3g}",
            f"{math.degrees(joint.limit):.3g} deg" if math.isfinite(joint.limit) else "any",
            THRUSTS[int(model.swings[i])],
        )
    return table
