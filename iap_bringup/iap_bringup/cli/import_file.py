# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap import``."""

import argparse
import json
import sys
from pathlib import Path

from iap_bringup.importing.kinds import read_vehicle
from iap_bringup.importing.object_file import object_of
from iap_bringup.importing.platform_file import platform_of
from iap_bringup.importing.rotor_options import RotorOptions, rotor_set
from iap_bringup.terminal.program import program
from iap_description.assets.kinds import MESH_KINDS
from iap_description.assets.poses import Tree
from iap_description.config.plain_yaml import yaml_text
from iap_description.config.record import validate
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.vehicles.platform import Platform
from iap_io.runs.run_folder import write_file


def import_file(options: argparse.Namespace) -> int:
    """Write what a file of another program holds as a file of the suite.

    Returns:
        The exit code.
    """
    path: Path = options.file
    out: Path = options.out or Path(f"{path.stem.removesuffix('.urdf')}.yaml")
    if out.exists() and out.resolve() == path.resolve():
        raise BadInput(f"{path}: --out would replace the file that is read; name another one")
    if out.exists() and not options.force:
        raise BadInput(f"--out {out}: it is there already; --force replaces it")
    if path.suffix.lower().removeprefix(".") in MESH_KINDS:
        return _import_mesh(path, out, options)
    return _import_vehicle(path, out, options)


def _import_mesh(path: Path, out: Path, options: argparse.Namespace) -> int:
    if options.density is None:
        raise BadInput(f"{path}: a mesh has no mass of its own: give --density, in kg/m^3")
    made = object_of(path, options.density, options.scale, out.parent)
    x, y, z = made.center.tolist()
    moments = ", ".join(f"{each:.6g}" for each in made.inertia.diagonal().tolist())
    facts = f"{made.mass:.6g} kg, CoM ({x:.4g}, {y:.4g}, {z:.4g}) m, moments of inertia {moments} kg m^2"
    _write(out, made.tree, [f"{path.name}: {facts}."])
    sys.stdout.write(f"{out}: {facts}\nput it below world.objects of a scenario, by a name\n")
    return 0


def _import_vehicle(path: Path, out: Path, options: argparse.Namespace) -> int:
    asked = RotorOptions(
        [tuple(each) for each in options.rotor],
        options.spins or (),
        options.max_thrust,
        options.torque_ratio,
        options.rpm_max,
    )
    arguments = dict(each.partition("=")[::2] for each in options.arg)
    vehicle = read_vehicle(path, arguments)
    rotors = rotor_set(vehicle, asked, str(path))
    tree = json.loads(
        json.dumps(platform_of(vehicle, rotors, str(path), physical=options.make_physical))
    )
    validate(Platform, tree, source=str(path))
    mass = sum(link.mass for link in vehicle.links)
    facts = f"{mass:.6g} kg, {len(rotors.sources)} rotors"
    notes = [*vehicle.notes, *(f"assumed: {each}" for each in rotors.assumed), "without drag"]
    weight = mass * GRAVITY
    if rotors.thrust < weight:
        notes.append(f"cannot hover: {rotors.thrust:.3g} N of thrust, {weight:.3g} N of weight")
    _write(out, tree, [f"{path.name}: {facts}.", *(f"{each}." for each in notes)])
    sys.stdout.write(f"{out}: {facts}\n" + "".join(f"{each}\n" for each in notes))
    sys.stdout.write(f"fly it: {program()} run hover --platform {out}\n")
    return 0


def _write(out: Path, tree: Tree, comments: list[str]) -> None:
    lines = "".join(f"# {' '.join(each.split())}\n" for each in comments)
    write_file(out, (lines + yaml_text(tree)).encode())
