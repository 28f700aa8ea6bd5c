# SPDX-License-Identifier: BSD-3-Clause
"""Places of what compiled code reads and writes in MuJoCo's data, by MuJoCo's own description of its structures."""

import ctypes
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, Self

from iap_description.errors import IapError
from iap_physics.engines.mujoco.library import mj

_NUMBERS: dict[str, Any] = {
    "mjtNum": ctypes.c_double,
    "mjtSize": ctypes.c_int64,
    "mjtBool": ctypes.c_bool,
    "mjtByte": ctypes.c_uint8,
    "size_t": ctypes.c_size_t,
    "uintptr_t": ctypes.c_size_t,
    "uint64_t": ctypes.c_uint64,
    "int": ctypes.c_int,
}


class DataLayout(NamedTuple):
    """Offsets in bytes of fields of MuJoCo's `mjData`, which hold addresses but for the first, and of `mjContact`.

    Attributes:
        ncon: number of contacts, an integer of 32 bits.
        qpos: coordinates.
        qvel: velocities.
        qacc_warmstart: accelerations from which the solver begins.
        qfrc_applied: forces on coordinates.
        xfrc_applied: wrenches on bodies, force and torque.
        qfrc_constraint: forces of constraints on coordinates.
        xipos: CoMs of bodies.
        xpos: places of bodies.
        xmat: attitudes of bodies.
        contact: contacts, one `mjContact` after another.
        efc_aref: reference accelerations of constraints.
        efc_vel: velocities of constraints.
        efc_force: forces of constraints.
        eq_active: whether joints added in flight act, one byte each.
        contact_size: bytes of a contact.
        contact_dist: distance of the surfaces in a contact, negative where they overlap.
        contact_pos: position of a contact in it.
        contact_frame: axes of a contact, the normal first.
        contact_friction: coefficients of a contact.
        contact_geom: two geoms, integers of 32 bits.
        contact_row: first constraint of a contact or -1, an integer of 32 bits.
    """

    ncon: int
    qpos: int
    qvel: int
    qacc_warmstart: int
    qfrc_applied: int
    xfrc_applied: int
    qfrc_constraint: int
    xipos: int
    xpos: int
    xmat: int
    contact: int
    efc_aref: int
    efc_vel: int
    efc_force: int
    eq_active: int
    contact_size: int
    contact_dist: int
    contact_pos: int
    contact_frame: int
    contact_friction: int
    contact_geom: int
    contact_row: int

    @classmethod
    def of(cls, data: Any) -> Self:  # noqa: ANN401
        """Layout of MuJoCo's data, of which one is looked at.

        Raises:
            IapError: the library's data does not lie as its description says.
        """
        layout, contact = _structure("mjData"), _structure("mjContact")
        there = layout.from_address(data._address)
        for name in (
            "qpos",
            "qvel",
            "qacc_warmstart",
            "qfrc_applied",
            "xfrc_applied",
            "xmat",
            "eq_active",
        ):
            if getattr(there, name) != getattr(data, name).ctypes.data:
                raise IapError(
                    f"MuJoCo {mj.__version__}: mjData.{name} is not where it is said to be"
                )
        fields = {name: getattr(layout, name).offset for name in cls._fields[:15]}
        return cls(
            **fields,
            contact_size=ctypes.sizeof(contact),
            contact_dist=contact.dist.offset,
            contact_pos=contact.pos.offset,
            contact_frame=contact.frame.offset,
            contact_friction=contact.friction.offset,
            contact_geom=contact.geom.offset,
            contact_row=contact.efc_address.offset,
        )


@cache
def _described() -> Any:  # noqa: ANN401
    """MuJoCo's description of its structures by their names; it takes a tenth of a second to import."""
    return import_module("mujoco.introspect.structs").STRUCTS


@cache
def _structure(name: str) -> Any:  # noqa: ANN401
    """A structure of MuJoCo's as ctypes has it."""
    fields = [(field.name, _type(field.type)) for field in _described()[name].fields]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


def _type(described: Any) -> Any:  # noqa: ANN401
    """A field's type as ctypes has it."""
    extents = getattr(described, "extents", None)
    if extents is not None:
        made = _type(described.inner_type)
        for extent in reversed(extents):
            made = made * extent
        return made
    name = getattr(described, "name", None)
    if name is None:
        return ctypes.c_void_p  # whatever it points to
    return _structure(name) if name in _described() else _NUMBERS[name]
