# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of ``iap import``."""

import argparse
from pathlib import Path

from iap_bringup.cli.arguments.parser import CommandParser, Later


def add_import(parser: CommandParser) -> None:
    """Options of ``iap import``."""
    parser.description = (
        "Write a vehicle in URDF, xacro, SDF or MJCF as a platform's YAML file, or a closed mesh as an object with the"
        " mass and inertia of its density."
    )
    parser.examples = (
        "iap import quad.urdf --spins ccw cw ccw cw --max-thrust 6 --torque-ratio 0.016",
        "iap import box.stl --density 700 --scale 0.001 --out box.yaml",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the vehicle or mesh")
    parser.add_argument(
        "--out", type=Path, metavar="YAML", help="file to write (default: NAME.yaml here)"
    )
    parser.add_argument("--force", action="store_true", help="replace the file that is there")
    _add_rotors(parser.add_argument_group("rotors", "in place of what the file says"))
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="argument of a xacro file; may be repeated",
    )
    parser.add_argument(
        "--make-physical",
        action="store_true",
        help="where no body has the file's moments of inertia: lower the largest to the sum of the others",
    )
    _add_density(parser.add_argument_group("meshes"))
    parser.set_defaults(run=Later("import_file", "import_file", compiles=False))


def _add_rotors(rotors: argparse._ArgumentGroup) -> None:
    rotors.add_argument(
        "--rotor",
        type=float,
        nargs=3,
        action="append",
        default=[],
        metavar=("X", "Y", "Z"),
        help="place of a rotor in the root's frame [m]; once for each (default: the file's)",
    )
    rotors.add_argument(
        "--spins",
        nargs="+",
        choices=("ccw", "cw"),
        help="turn of each rotor, seen from above (default: the file's)",
    )
    rotors.add_argument(
        "--max-thrust",
        type=float,
        metavar="N",
        help="largest thrust of one rotor [N] (default: the file's)",
    )
    rotors.add_argument(
        "--torque-ratio",
        type=float,
        metavar="M",
        help="drag torque per thrust [m] (default: the file's)",
    )
    rotors.add_argument(
        "--rpm-max",
        type=float,
        metavar="RPM",
        help="largest speed of a rotor [rpm] (default: the file's)",
    )


def _add_density(mesh: argparse._ArgumentGroup) -> None:
    mesh.add_argument(
        "--density",
        type=float,
        metavar="KG_M3",
        help="density of the material [kg/m^3], which a mesh needs (default: none)",
    )
    mesh.add_argument(
        "--scale",
        type=float,
        default=1.0,
        metavar="M",
        help="length of a unit of the file [m] (default: 1)",
    )
