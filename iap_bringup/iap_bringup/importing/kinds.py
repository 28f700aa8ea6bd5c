# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of files of vehicles, by what they begin with."""

from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from iap_bringup.importing.mjcf_file import read_mjcf
from iap_bringup.importing.sdf_file import read_sdf
from iap_bringup.importing.urdf_file import read_urdf
from iap_bringup.importing.vehicle_model import VehicleModel
from iap_description.config.bounds import LARGEST_NUMBER
from iap_description.config.text_files import read_text
from iap_description.errors import BadInput

VEHICLES: dict[str, Callable[[Path, Mapping[str, str]], VehicleModel]] = {  # by the root's tag
    "robot": read_urdf,
    "sdf": read_sdf,
    "model": read_sdf,
    "mujoco": read_mjcf,
}


def read_vehicle(path: Path, arguments: Mapping[str, str]) -> VehicleModel:
    """The vehicle of a file of any kind.

    Raises:
        BadInput: it is of no known kind, or cannot be read.
    """
    try:
        tag = ElementTree.fromstring(read_text(path)).tag
    except ElementTree.ParseError as error:
        raise BadInput(f"{path}: not valid XML: {error}") from error
    if tag not in VEHICLES:
        raise BadInput(
            f"{path}: its root is <{tag}>: known are {', '.join(f'<{each}>' for each in VEHICLES)}"
        )
    vehicle = VEHICLES[tag](path, arguments)
    _check_sizes(vehicle, path)
    return vehicle


def _check_sizes(vehicle: VehicleModel, path: Path) -> None:
    """Refuse lengths and masses whose squares no number holds."""
    of_links = [
        (each.name, np.r_[each.mass, each.center, each.inertia.ravel()]) for each in vehicle.links
    ]
    of_rotors = [(f"rotor {k + 1}", each.position) for k, each in enumerate(vehicle.rotors)]
    for name, values in (*of_links, *of_rotors):
        if not (np.abs(values) <= LARGEST_NUMBER).all():
            raise BadInput(
                f"{path}: {name} is of {np.abs(values).max():.4g}, at most {LARGEST_NUMBER:.0g} is expected"
            )
