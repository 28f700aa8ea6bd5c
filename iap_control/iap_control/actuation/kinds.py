# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of actuation, and the model of a platform of any of them: a new kind is a module and a line here."""

import math
from collections.abc import Sequence

import numpy as np

from iap_control.actuation.jointed import CollinearActuation, FullActuation
from iap_control.actuation.rigid import RigidActuation
from iap_control.actuation.vectored import VectoredActuation
from iap_control.allocation.actuation import Effectiveness, Thrusters
from iap_control.allocation.model import Actuation, PlatformModel, lumped_inertia, mount_yaws
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.vehicles.aircraft import Aircraft
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.health import Health

KINDS: list[Actuation] = [
    FullActuation(),
    CollinearActuation(),
    RigidActuation(),
    VectoredActuation(),
]


def laws() -> dict[str, tuple[str, ...]]:
    """Names of the laws, and the kinds of actuation that each flies."""
    out: dict[str, tuple[str, ...]] = {}
    for kind in KINDS:
        out[kind.law] = (*out.get(kind.law, ()), kind.name)
    return out


def check_names(names: Sequence[str], key: str) -> None:
    """Refuse names of kinds that do not exist.

    Raises:
        BadInput: naming the key and the kinds.
    """
    known = [kind.name for kind in KINDS]
    for name in names:
        if name not in known:
            raise BadInput(f"key '{key}': no kind of actuation '{name}' ({', '.join(known)})")


def platform_model(
    assembly: Assembly, fleet: Sequence[Aircraft], *, gravity: float, com_coupling: bool
) -> PlatformModel:
    """The controller's model of an assembly of these aircraft.

    Aircraft and their joints may differ if the thrusts together make any wrench. `com_coupling` keeps the terms in d_0
    that iap_simulator eq. (4) drops.

    Raises:
        BadInput: there is no control law for these joints.
    """
    thrusters = Thrusters.of(assembly, fleet)
    actuation, made = _kind_of(assembly, thrusters)
    body = (assembly.mass, assembly.d_0, assembly.inertia)
    tip_P, tip_moves = _tip(assembly)
    return PlatformModel(
        actuation=actuation,
        inertia=lumped_inertia(*body, gravity=gravity, com_coupling=com_coupling),
        B=made.B,
        B_inverse=made.B_inverse,
        line=made.line,
        mount_yaw=mount_yaws(assembly),
        travel=np.array([joint.limit for joint in assembly.joints] or [math.inf]),
        tip_P=tip_P,
        tip_moves=tip_moves,
        health=Health.sound(thrusters.fleet),
        **thrusters._asdict(),
    )


def _kind_of(assembly: Assembly, thrusters: Thrusters) -> tuple[Actuation, Effectiveness]:
    """The first kind that a platform is of, and the map of its thrusts."""
    for kind in KINDS:
        made = kind.effectiveness(assembly, thrusters)
        if made is not None:
            return kind, made
    raise BadInput(
        f"vehicle '{assembly.name}': key 'platform.joints': there is no control law for these joints"
    )


def _tip(assembly: Assembly) -> tuple[Array, bool]:
    """Tip (3,) of the tool, else of the arm at home, else P's origin [m]; True if it is that of an arm."""
    tip, arm = assembly.tool_tip_P, assembly.arm
    if tip is not None:
        return tip, False
    return (np.zeros(3), False) if arm is None else (arm.tip_P(arm.record.home_pose), True)
