# SPDX-License-Identifier: BSD-3-Clause
"""Builds worlds in MuJoCo.

What was found out about MuJoCo 4.0 and is relied on here:

- A child and its parent pass through each other unless FILTERPARENT is disabled; bodies that are welded, and all that
  stands still, never collide.
- A mocap body moves, but contacts do not feel its velocity: what moves as prescribed is a heavy body on three slides
  instead, which is put where it belongs, with its velocity, before each step.
- Constraints name their bodies in the model, which may be changed between steps: joints that are added in flight are
  spare ones, and so are pairs of bodies that pass each other.
- Meshes of other numbers of triangles have other trees of bounds (nbvh). Worlds may share data all the same: a step
  marks nodes of these trees in the data for pictures alone (vis.global.bvactive), which are off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.scenes.library import load_scene
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.body import Body
from iap_description.world.objects import WorldObject
from iap_description.world.world import World
from iap_physics.engines.engine import OBJECT, WORLD
from iap_physics.engines.joints import check_joint_types
from iap_physics.engines.mujoco import passing
from iap_physics.engines.mujoco.arms import add_arm, arm_skins
from iap_physics.engines.mujoco.geoms import (
    FREE,
    GROUND,
    STANDING,
    VEHICLES,
    Skin,
    add_skins,
    pieces_of,
)
from iap_physics.engines.mujoco.library import mj
from iap_physics.engines.mujoco.object_bodies import add_objects, center_of, moments, turns
from iap_physics.engines.mujoco.surfaces import BOND, BOND_R, INVERSE_MASS, SurfaceContact

SPARE = 8  # joints that can be added in flight
STICKINESS = 1e3  # how much stiffer friction is than the normal; at 1 what is soft would creep
PARTING_DISTANCE = 1e3  # [m] no two vehicles touch at this distance
ITERATIONS, TOLERANCE = 50, 1e-12  # of the solver
# Islands cost small worlds more than they save, and of the others there is nothing here.
DISABLED = ("FILTERPARENT", "AUTORESET", "ISLAND", "SENSOR", "ACTUATION")
OF_HINGES = (
    "SPRING",
    "DAMPER",
    "FRICTIONLOSS",
)  # of objects; without such there is nothing of them
FIRST_STEP = 1e-3  # before the first step tells its own [s]
SMALL_MEMORY = 1 << 16  # which compiling asks for where worlds are stepped in another's data [B]
ALIKE = ("nq", "nv", "nbody", "ngeom", "njnt", "neq")  # sizes that worlds of one batch share
HINGE = mj.mjtJoint.mjJNT_HINGE  # one for each axis
JOINTS: dict[str, Any] = {
    "spherical": mj.mjtJoint.mjJNT_BALL,
    "universal": HINGE,
    "revolute": HINGE,
    "fixed": None,  # welded
}


@dataclass(frozen=True)
class MuJoCoModel:
    """A world in MuJoCo.

    Attributes:
        model: MuJoCo's.
        bodies: (rows,) its body of every state row.
        objects: its body of each object of the world.
        centers: (3,) origin of each object's body in its frame O [m].
        owners: (MuJoCo's bodies,) state row, `WORLD` or object, as contacts give it.
        vehicles: (MuJoCo's bodies,) number of the vehicle that a body belongs to, or -1.
        contacts: what counts for each geom.
        arms: MuJoCo's bodies of the links of each vehicle's arm.
        hinges: MuJoCo's joints of objects' hinges.
    """

    model: Any
    bodies: list[int]
    objects: list[int]
    centers: list[Array]
    owners: Integers
    vehicles: Integers
    contacts: list[SurfaceContact]
    arms: dict[int, list[int]]
    hinges: list[int]

    def set_step(self, dt: float) -> None:
        """Prepare for steps of `dt` [s], of which softness depends."""
        self.model.opt.timestep = dt
        for k, contact in enumerate(self.contacts):
            solref, d = contact.solver(dt)
            self.model.geom_solref[k], self.model.geom_solimp[k, :2] = solref, d
            self.model.geom_friction[k, 0] = contact.friction
        bond = BOND.solver(dt, BOND_R)
        self.model.eq_solref[:], self.model.eq_solimp[:, :2] = bond
        for joint in self.hinges:  # their stops and their friction
            dof = self.model.jnt_dofadr[joint]
            self.model.jnt_solref[joint], self.model.jnt_solimp[joint, :2] = bond
            self.model.dof_solref[dof], self.model.dof_solimp[dof, :2] = bond


def build(world: World, assemblies: Sequence[Assembly]) -> MuJoCoModel:
    """The model of a world.

    Raises:
        BadInput: a joint is of a type, or there are more surfaces, than it can build.
    """
    builder = _Builder(world, assemblies)
    made = builder.compiled()
    return builder.with_exclusions(_overlapping(made, mj.MjData(made.model), assemblies))


def build_alike(
    world: World,
    assemblies: Sequence[Assembly],
    first: MuJoCoModel,
    data: Any,  # noqa: ANN401 - MuJoCo's
) -> MuJoCoModel:
    """The model of one more world of a batch, without memory to be stepped in.

    MuJoCo asks for 14 MB as it compiles a model. The small models that stay would leave a hole of that size each.

    Args:
        world: like the first one, but for its numbers.
        assemblies: likewise.
        first: the batch's first model.
        data: MuJoCo's data of the first model, which is overwritten.

    Raises:
        BadInput: it has more or fewer bodies, joints or pieces than the first one.
    """
    builder = _Builder(world, assemblies)
    builder.spec.memory = SMALL_MEMORY
    made = builder.compiled()
    for size in ALIKE:
        own, there = getattr(made.model, size), getattr(first.model, size)
        if own != there:
            raise BadInput(f"worlds: drawn worlds differ in {size} ({own} and {there})")
    return builder.with_exclusions(_overlapping(made, data, assemblies))


class _Builder:
    """A world as MuJoCo's specification."""

    def __init__(self, world: World, assemblies: Sequence[Assembly]) -> None:
        self.spec = spec = mj.MjSpec()
        self.assemblies = assemblies
        self.arms: dict[int, list[Any]] = {}  # the links of each vehicle's arm
        spec.compiler.degree = False  # of joints' ranges
        _set_options(spec.option, world)
        self.bodies = [b for k, each in enumerate(assemblies) for b in self._vehicle(k, each)]
        self.objects = add_objects(spec, world)
        self.centers = [center_of(each) for each in world.objects.values()]
        standing = spec.worldbody.add_body()
        skins = [
            Skin(body, pieces_of(part.collision), part.surface or _rigid(world), VEHICLES)
            for body, part in zip(
                self.bodies, (b for a in assemblies for b in a.bodies), strict=True
            )
        ]
        for k, links in self.arms.items():
            skins += arm_skins(links, assemblies[k].arm, _rigid(world))
        for body, item in zip(self.objects, world.objects.values(), strict=True):
            group = FREE if item.is_free else STANDING
            skins.append(Skin(body, pieces_of(item.pieces(), *_place(item)), item.surface, group))
        if world.has_ground:
            skins.append(Skin(standing, [GROUND], world.surface, STANDING))
        if world.scene is not None:
            solids = pieces_of(load_scene(world.scene).solids)
            skins.append(Skin(standing, solids, world.surface, STANDING))
        self.geoms = add_skins(spec, skins)
        for _ in range(SPARE):
            bond = spec.add_equality(type=mj.mjtEq.mjEQ_CONNECT, objtype=mj.mjtObj.mjOBJ_BODY)
            bond.name1, bond.active = self.bodies[0].name, False
        passing.reserve(spec, self.bodies[0].name)

    def _vehicle(self, number: int, assembly: Assembly) -> list[Any]:
        check_joint_types(assembly, "mujoco", JOINTS, arms=True)
        made = {0: self.spec.worldbody.add_body(**_inertial(assembly.bodies[0], f"{number}/0"))}
        made[0].add_freejoint()
        waiting = list(assembly.joints)
        while waiting:
            joint = next(each for each in waiting if each.parent in made)
            waiting.remove(joint)
            body = made[joint.parent].add_body(
                pos=joint.p_PC_P,
                quat=np.roll(joint.q_PJ, 1),
                **_inertial(assembly.bodies[joint.child], f"{number}/{joint.child}"),
            )
            kind = JOINTS[joint.type]
            if kind == HINGE:
                for axis in joint.axes:
                    body.add_joint(type=kind, pos=joint.p_CJ_C, axis=axis)
            elif kind is not None:
                body.add_joint(type=kind, pos=joint.p_CJ_C)
            made[joint.child] = body
        if assembly.arm is not None:
            self.arms[number] = add_arm(self.spec, made[0], assembly.arm, str(number))
        return [made[k] for k in range(len(assembly.bodies))]

    def with_exclusions(self, pairs: Sequence[tuple[str, str]]) -> MuJoCoModel:
        """The model, in which these pairs of bodies do not touch."""
        for a, b in pairs:
            self.spec.add_exclude(bodyname1=a, bodyname2=b)
        return self.compiled()

    def compiled(self) -> MuJoCoModel:
        """The model as it stands.

        Raises:
            BadInput: MuJoCo refuses it, such as for a body whose inertia is too small for its numbers.
        """
        try:
            model = self.spec.compile()
        except ValueError as error:
            reason = " ".join(str(error).removeprefix("Error: ").split())
            raise BadInput(f"engine mujoco cannot build this world: {reason}") from error
        passing.clear(model)
        bodies, objects = [b.id for b in self.bodies], [b.id for b in self.objects]
        owners, vehicles = np.full(model.nbody, WORLD), np.full(model.nbody, -1)
        owners[bodies], owners[objects] = range(len(bodies)), OBJECT - np.arange(len(objects))
        others = owners == WORLD
        owners[others] = owners[model.body_parentid[others]]  # of what stands
        sizes = [len(assembly.bodies) for assembly in self.assemblies]
        vehicles[bodies] = np.repeat(np.arange(len(sizes)), sizes)
        for k, links in self.arms.items():
            ids = [link.id for link in links]
            owners[ids], vehicles[ids] = sum(sizes[:k]), k
        model.body_invweight0[:] = 0.5 * INVERSE_MASS
        model.stat.meaninertia = 1.0  # by which the solver's tolerance is scaled
        contacts = dict(zip([geom.id for geom, _ in self.geoms], self.geoms, strict=True))
        return MuJoCoModel(
            model,
            bodies,
            objects,
            self.centers,
            owners,
            vehicles,
            [contacts[k][1] for k in sorted(contacts)],
            {k: [link.id for link in links] for k, links in self.arms.items()},
            [each.joints[0].id for each in self.objects if turns(each)],
        )


def _set_options(option: Any, world: World) -> None:  # noqa: ANN401
    option.gravity = [0.0, 0.0, -world.gravity]
    option.integrator = mj.mjtIntegrator.mjINT_EULER
    option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    option.impratio = STICKINESS
    option.iterations, option.tolerance = ITERATIONS, TOLERANCE
    has_hinges = any(each.hinge is not None for each in world.objects.values())
    for name in DISABLED if has_hinges else (*DISABLED, *OF_HINGES):
        option.disableflags |= getattr(mj.mjtDisableBit, f"mjDSBL_{name}")


def _rigid(world: World) -> Any:  # noqa: ANN401
    return world.surface.model_copy(update={"stiffness": None, "damping": None})


def _inertial(body: Body, name: str) -> dict[str, Any]:
    return {"name": name, "mass": body.mass, **moments(body.inertia)}


def _place(item: WorldObject) -> tuple[Array, Array]:
    """Place (3,) [m] and attitude (4,) of an object's frame O on its body."""
    return -center_of(item), item.q_WO if item.motion is not None else so3.IDENTITY


def _overlapping(
    made: MuJoCoModel,
    data: Any,  # noqa: ANN401 - MuJoCo's
    assemblies: Sequence[Assembly],
) -> list[tuple[str, str]]:
    """Pairs of a vehicle's bodies that overlap at rest; MuJoCo's data are overwritten."""
    model = made.model
    data.qpos[:] = model.qpos0
    firsts = np.cumsum([0, *(len(assembly.bodies) for assembly in assemblies[:-1])])
    for k, row in enumerate(firsts.tolist()):
        at = model.jnt_qposadr[model.body_jntadr[made.bodies[row]]]
        data.qpos[at : at + 3] = PARTING_DISTANCE * (k + 1), 0.0, PARTING_DISTANCE
    mj.mj_kinematics(model, data)
    mj.mj_comPos(model, data)
    mj.mj_collision(model, data)
    pairs = set()
    for contact in data.contact:
        a, b = sorted(model.geom_bodyid[list(contact.geom)].tolist())
        if made.vehicles[a] == made.vehicles[b] >= 0:
            pairs.add((model.body(a).name, model.body(b).name))
    return sorted(pairs)
