# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles of four rotors as other programs write them: URDF, SDF and MJCF."""

from pathlib import Path

ARM = 0.2  # of a rotor along x and y [m]
ROTORS = ((ARM, -ARM, "ccw"), (-ARM, ARM, "ccw"), (ARM, ARM, "cw"), (-ARM, -ARM, "cw"))
TORQUE_RATIO = 0.016  # of a rotor [m]


def write_all(home: Path) -> None:
    """Write one of each kind."""
    for suffix, text in (("urdf", _urdf()), ("sdf", _sdf()), ("xml", _mjcf())):
        (home / f"vehicle.{suffix}").write_text(text, encoding="utf-8")


def _motor(k: int, spin: str) -> str:
    return (
        f"<plugin name='m{k}' filename='motor.so'><linkName>rotor_{k}</linkName>"
        f"<motorConstant>8e-6</motorConstant><momentConstant>{TORQUE_RATIO}</momentConstant>"
        f"<turningDirection>{spin}</turningDirection><maxRotVelocity>900</maxRotVelocity>"
        "<timeConstantUp>0.01</timeConstantUp><timeConstantDown>0.02</timeConstantDown></plugin>"
    )


def _urdf() -> str:
    parts = [
        "<robot name='quad'><link name='base'><inertial><mass value='1.2'/>"
        "<inertia ixx='0.01' iyy='0.012' izz='0.02' ixy='0' ixz='0' iyz='0'/></inertial>"
        "<collision><geometry><box size='0.3 0.3 0.1'/></geometry></collision></link>"
    ]
    for k, (x, y, spin) in enumerate(ROTORS):
        parts += [
            f"<link name='rotor_{k}'><inertial><mass value='0.05'/></inertial></link>",
            f"<joint name='j{k}' type='continuous'><origin xyz='{x} {y} 0.05' rpy='0 0 0'/>",
            f"<parent link='base'/><child link='rotor_{k}'/><axis xyz='0 0 1'/></joint>",
            f"<gazebo>{_motor(k, spin)}</gazebo>",
        ]
    return "".join([*parts, "</robot>"])


def _sdf() -> str:
    moments = "<inertia><ixx>{}</ixx><iyy>{}</iyy><izz>{}</izz></inertia>"
    parts = [
        "<sdf version='1.9'><model name='quad'><link name='base'><inertial><mass>1.2</mass>"
        f"{moments.format(0.01, 0.012, 0.02)}</inertial><collision name='c'><geometry><box>"
        "<size>0.3 0.3 0.1</size></box></geometry></collision></link>"
    ]
    for k, (x, y, spin) in enumerate(ROTORS):
        parts += [
            f"<link name='rotor_{k}'><pose relative_to='base'>{x} {y} 0.05 0 0 0</pose>",
            f"<inertial><mass>0.05</mass>{moments.format(0, 0, 0)}</inertial></link>",
            _motor(k, spin),
        ]
    return "".join([*parts, "</model></sdf>"])


def _mjcf() -> str:
    rotors, motors = "", ""
    for k, (x, y, spin) in enumerate(ROTORS):
        place, torque = f"pos='{x} {y} 0.05'", TORQUE_RATIO if spin == "cw" else -TORQUE_RATIO
        rotors += (
            f"<geom type='sphere' size='0.0001' mass='0.05' {place}/><site name='s{k}' {place}/>"
        )
        motors += f"<motor site='s{k}' ctrlrange='0 6.48' gear='0 0 1 0 0 {torque}'/>"
    return (
        "<mujoco model='quad'><worldbody><body name='base' pos='0 0 1'><freejoint/>"
        f"<geom type='box' size='0.17 0.14 0.05' mass='1.2'/>{rotors}</body></worldbody>"
        f"<actuator>{motors}</actuator></mujoco>"
    )
