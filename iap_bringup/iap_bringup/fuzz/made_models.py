# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles, a scene and assets in files of many kinds, as other programs write them.

Vehicles of four rotors are URDF, SDF and MJCF. Parts of the scene name meshes with images, textures, heights and
another scene.
"""

from pathlib import Path

import numpy as np

from iap_description.config.plain_yaml import yaml_text
from iap_description.process.extras import cv2

ARM = 0.2  # of a rotor along x and y [m]
ROTORS = ((ARM, -ARM, "ccw"), (-ARM, ARM, "ccw"), (ARM, ARM, "cw"), (-ARM, -ARM, "cw"))
TORQUE_RATIO = 0.016  # of a rotor [m]
SIDE = 16  # of images [pixels]


def write_vehicles(home: Path) -> None:
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


def write_scene(home: Path) -> None:
    """Write the folder ``scene``, whose file is ``scene.yaml``."""
    folder = home / "scene"
    folder.mkdir()
    levels = np.random.default_rng(1).integers(0, 255, (SIDE, SIDE, 3), dtype=np.uint8)
    cv2.imwrite(str(folder / "wall.png"), levels)
    cv2.imwrite(str(folder / "hills.png"), levels[..., 0])
    cv2.imwrite(str(folder / "sky.hdr"), np.ones((64, 128, 3), np.float32))
    np.save(folder / "hills.npy", levels[..., 0] / 255.0)
    for name in ("truck.glb", "truck.gltf", "block.obj", "block.ply"):
        _write_mesh(folder / name)
    (folder / "other.yaml").write_text(yaml_text({"parts": [_box(9.0)]}), encoding="utf-8")
    (folder / "scene.yaml").write_text(yaml_text(_scene()), encoding="utf-8")


def write_assets(home: Path) -> None:
    """Write the folder ``assets``: boxes in files of every kind, one of them a link."""
    folder = home / "assets"
    folder.mkdir()
    for name in ("a.glb", "b.gltf", "c.obj", "d.ply", "e.stl", "f.off", "part.stl"):
        _write_mesh(folder / name)
    (folder / "post.urdf").write_text(
        "<robot name='post'><link name='foot'><collision><origin xyz='0 0 0.5' rpy='0 0 0.3'/>"
        "<geometry><cylinder radius='0.2' length='1.0'/></geometry></collision></link>"
        "<link name='top'><collision><geometry><mesh filename='part.stl' scale='1 1 0.5'/></geometry>"
        "</collision></link><joint name='j' type='revolute'><origin xyz='0 0 1' rpy='0 0 0'/>"
        "<parent link='foot'/><child link='top'/></joint></robot>",
        encoding="utf-8",
    )


def _write_mesh(path: Path) -> None:
    """A box with an image on it, in the form that the file's ending says."""
    import trimesh  # takes half a second

    box = trimesh.creation.box((1.0, 2.0, 1.0))
    image = trimesh.visual.texture.SimpleMaterial()
    box.visual = trimesh.visual.TextureVisuals(uv=np.abs(box.vertices[:, :2]), material=image)
    if path.suffix == ".gltf":
        for name, data in trimesh.exchange.gltf.export_gltf(trimesh.Scene(box)).items():
            (path.with_name(name) if name != "model.gltf" else path).write_bytes(data)
    else:
        box.export(path, file_type={".stl": "stl_ascii"}.get(path.suffix))


def _box(x: float) -> dict[str, object]:
    return {"type": "box", "at": [[x, 6.0, 1.0]], "size": [1.0, 1.0, 1.0], "texture": "crates"}


def _scene() -> dict[str, object]:
    meshes = ("truck.glb", "truck.gltf", "block.obj", "block.ply")
    hills = {
        "type": "height_map",
        "size": [8.0, 8.0],
        "height": 2.0,
        "position": [-30.0, 0.0, 0.0],
    }
    return {
        "description": "A yard",
        "parts": [
            {"type": "ground", "texture": "wall.png", "reach": 40.0},
            *(
                {
                    "type": "mesh",
                    "file": name,
                    "position": [5.0 + 4.0 * k, -8.0, 0.0],
                    "scale": 1.0,
                }
                for k, name in enumerate(meshes)
            ),
            _box(8.0),
            {"type": "sphere", "radius": 1.0, "position": [9.0, -15.0], "label": "ball"},
            {**hills, "file": "hills.png"},
            {**hills, "file": "hills.npy", "position": [-50.0, 0.0, 0.0]},
            {"type": "scene", "file": "other.yaml", "position": [40.0, 0.0, 0.0]},
        ],
    }
