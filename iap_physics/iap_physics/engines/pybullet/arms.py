# SPDX-License-Identifier: BSD-3-Clause
"""Arms in PyBullet: links behind joints that torques drive.

What was found out about PyBullet 3.2.7 and is relied on here: revolute and prismatic joints have a velocity motor by
default, which is switched off; torques count for one step; inertias of links must come from the URDF, since those of
changeDynamics go to the base.
"""

from collections.abc import Mapping
from itertools import pairwise

from iap_description.arrays import Array
from iap_description.geometry.shapes import Surface
from iap_physics.engines.arm_motors import ArmMotors
from iap_physics.engines.pybullet.client import SPEED_LIMIT, bullet, set_surface
from iap_physics.engines.pybullet.world import LoadedWorld


class LoadedArm:
    """An arm's joints in PyBullet.

    Args:
        client: PyBullet's.
        body: PyBullet's, of the vehicle.
        motors: of the arm.
    """

    def __init__(self, client: int, body: int, motors: ArmMotors) -> None:
        self._at, self._body, self._motors = {"physicsClientId": client}, body, motors
        self.links = _links(client, body, motors)

    def release(self, others: tuple[int, ...], surface: Surface) -> None:
        """End its own motors and damping, and let parts pass each other that meet at a joint or at rest.

        Args:
            others: PyBullet's links of the vehicle's other bodies.
            surface: of links without one of their own.
        """
        undamped = {"linearDamping": 0.0, "angularDamping": 0.0, "jointDamping": 0.0}
        for link, part in zip(self.links, self._motors.arm.links, strict=True):
            limit = {"maxJointVelocity": SPEED_LIMIT}
            bullet.changeDynamics(self._body, link, **limit, **undamped, **self._at)
            handle = (self._body, link)
            set_surface(self._at["physicsClientId"], handle, part.surface or surface)
            bullet.setJointMotorControl2(
                self._body, link, bullet.VELOCITY_CONTROL, force=0.0, **self._at
            )
        self.put()
        for a, b in pairwise((-1, *self.links)):
            self._let_pass(a, b)
        for link in self.links:
            for other in (*others, *(each for each in self.links if each < link)):
                pair = {"linkIndexA": other, "linkIndexB": link}
                if bullet.getClosestPoints(self._body, self._body, 0.0, **pair, **self._at):
                    self._let_pass(other, link)

    def put(self) -> None:
        """Set the joints as the motors have them."""
        for link, q, v in zip(self.links, self._motors.q, self._motors.v, strict=True):
            bullet.resetJointState(self._body, link, float(q), float(v), **self._at)

    def read(self) -> None:
        """Tell the motors where the joints stand."""
        states = bullet.getJointStates(self._body, self.links, **self._at)
        self._motors.q[:] = [state[0] for state in states]
        self._motors.v[:] = [state[1] for state in states]

    def push(self) -> None:
        """Hand the loads of the next step over."""
        loads: Array = self._motors.drive()
        bullet.setJointMotorControlArray(
            self._body, self.links, bullet.TORQUE_CONTROL, forces=loads.tolist(), **self._at
        )

    def _let_pass(self, a: int, b: int) -> None:
        bullet.setCollisionFilterPair(self._body, self._body, a, b, 0, **self._at)


class LoadedArms:
    """Arms of all vehicles in PyBullet, at home; contacts of their links count as the central body's.

    Args:
        client: PyBullet's.
        loaded: world, in which the links get the numbers of their vehicles' central bodies.
        arms: motors by the numbers of their vehicles.
        surface: of links without one of their own.
    """

    def __init__(
        self, client: int, loaded: LoadedWorld, arms: Mapping[int, ArmMotors], surface: Surface
    ) -> None:
        rigid = surface.model_copy(update={"stiffness": None, "damping": None})
        self._arms: dict[int, LoadedArm] = {}
        for k, motors in arms.items():
            vehicle = loaded.vehicles[k]
            motors.reset()
            self._arms[k] = arm = LoadedArm(client, vehicle.body, motors)
            arm.release((-1, *vehicle.links), rigid)
            row = loaded.rows[vehicle.body, -1]
            loaded.rows.update({(vehicle.body, link): row for link in arm.links})

    def last_link(self, vehicle: int) -> int:
        """PyBullet's number of the last link of a vehicle's arm."""
        return self._arms[vehicle].links[-1]

    def put(self, vehicle: int) -> None:
        """Set the joints of a vehicle's arm as its motors have them."""
        self._arms[vehicle].put()

    def push(self) -> None:
        """Hand the loads of the next step over."""
        for arm in self._arms.values():
            arm.push()

    def read(self) -> None:
        """Tell the motors where the joints stand."""
        for arm in self._arms.values():
            arm.read()


def _links(client: int, body: int, motors: ArmMotors) -> tuple[int, ...]:
    count = bullet.getNumJoints(body, physicsClientId=client)
    infos = [bullet.getJointInfo(body, link, physicsClientId=client) for link in range(count)]
    names = [info[12].decode() for info in infos]
    return tuple(names.index(link.name) for link in motors.arm.links)
