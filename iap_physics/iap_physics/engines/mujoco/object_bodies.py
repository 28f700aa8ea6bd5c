# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of the world's objects in MuJoCo's specification."""

from functools import lru_cache
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.geometry.shapes import Shape
from iap_description.geometry.solids import Bulk
from iap_description.math import so3
from iap_description.world.hinge import Hinge
from iap_description.world.objects import WorldObject
from iap_description.world.world import World
from iap_physics.engines.mujoco.library import mj

HEAVY = 1e6  # mass of what moves as prescribed [kg]


def add_objects(spec: Any, world: World) -> list[Any]:  # noqa: ANN401
    """Bodies of a world's objects in their order; those that others carry are these bodies' children."""
    carriers, items = dict(world.carried), list(world.objects.values())
    made: dict[int, Any] = {}
    for k in sorted(range(len(items)), key=lambda number: number in carriers):
        carrier = carriers.get(k)
        if carrier is None:
            made[k] = _add_object(spec, items[k])
        else:
            place = _place_on(items[carrier], items[k])
            made[k] = _add_massive(made[carrier], items[k], place)
    return [made[k] for k in range(len(items))]


def _add_object(spec: Any, item: WorldObject) -> Any:  # noqa: ANN401
    """The body of an object: at its CoM if it moves freely, and with axes of the world if it moves as prescribed."""
    if item.motion is not None:
        inertial = moments(HEAVY * np.eye(3))
        body = spec.worldbody.add_body(pos=item.position, mass=HEAVY, gravcomp=1.0, **inertial)
        for axis in np.eye(3):
            body.add_joint(type=mj.mjtJoint.mjJNT_SLIDE, axis=axis)
        return body
    place = {"pos": _center_W(item), "quat": np.roll(item.q_WO, 1)}
    if item.mass is None:
        return spec.worldbody.add_body(**place)
    return _add_massive(spec.worldbody, item, place)


def _add_massive(parent: Any, item: WorldObject, place: dict[str, Array]) -> Any:  # noqa: ANN401
    """The body of an object with a mass, at a place on its parent."""
    assert item.mass is not None  # noqa: S101 - as the caller has looked
    bulk = _bulk(item.pieces())
    inertial = moments(item.mass / bulk.volume * bulk.inertia)
    body = parent.add_body(mass=item.mass, **inertial, **place)
    if item.hinge is None:
        body.add_freejoint()
    else:
        _add_hinge(body, item.hinge, center_of(item))
    return body


def _place_on(carrier: WorldObject, item: WorldObject) -> dict[str, Array]:
    """Place of an object's body on that of its carrier, at angle 0."""
    to_carrier = so3.conjugate(carrier.q_WO)
    return {
        "pos": so3.rotate(to_carrier, _center_W(item) - _center_W(carrier)),
        "quat": np.roll(so3.multiply(to_carrier, item.q_WO), 1),
    }


def _center_W(item: WorldObject) -> Array:
    """(3,) where the origin of an object's body begins [m]."""
    return np.asarray(item.position + so3.rotate(item.q_WO, center_of(item)))


def _add_hinge(body: Any, hinge: Hinge, center_O: Array) -> None:  # noqa: ANN401
    """Let a body, whose origin is here in O, turn about a hinge."""
    body.add_joint(
        type=mj.mjtJoint.mjJNT_HINGE,
        pos=np.array(hinge.point) - center_O,
        axis=hinge.direction,
        limited=True,
        range=np.deg2rad(hinge.limits_deg),
        stiffness=hinge.stiffness,
        springref=np.deg2rad(hinge.rest_deg),
        damping=hinge.damping,
        frictionloss=hinge.friction,
    )


def turns(body: Any) -> bool:  # noqa: ANN401
    """True of an object's body that has a hinge."""
    return any(joint.type == mj.mjtJoint.mjJNT_HINGE for joint in body.joints)


def center_of(item: WorldObject) -> Array:
    """(3,) origin of an object's body in its frame O [m]."""
    return np.zeros(3) if item.mass is None else _bulk(item.pieces()).center.copy()


@lru_cache(maxsize=64)
def _bulk(pieces: tuple[Shape, ...]) -> Bulk:
    """Integrals over an object, which worlds of a batch have alike."""
    return Bulk.of(pieces)


def moments(J: Array) -> dict[str, Any]:
    """Arguments of a body at its CoM with the inertia J (3, 3) [kg m^2]."""
    full = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    return {"ipos": np.zeros(3), "fullinertia": full, "explicitinertial": True}
