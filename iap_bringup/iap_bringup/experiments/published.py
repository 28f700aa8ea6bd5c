# SPDX-License-Identifier: BSD-3-Clause
"""What the papers report of localisation, as data: a strict record of ``data/published/virpo.yaml``."""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from iap_bringup import DATA
from iap_description.config import Positive, Record, read_yaml, validate

FILE = DATA / "published" / "virpo.yaml"
SCENES = ("vio", "vio_uwb", "virpo")  # columns of iap_simulator TABLE VIII
NEIGHBOURS = ("vio", "vio_uwb", "self_phy", "virpo")  # of virpo TABLE I
TERMS = ("pos_drift", "pos_velo_drift", "pos_att_drift", "all_kin", "virpo")  # of virpo TABLE II

Count = Annotated[int, Field(strict=True, ge=0)]
Error = Positive | None  # RMSE of the absolute trajectory error [m]
Drone = Literal["drone_1", "drone_2", "drone_3"]
Body = Literal["drone_1", "drone_2", "drone_3", "center"]
SceneName = Literal["a1", "a2", "a3", "b", "c", "d"]
Sequence = Literal["SIAP-1", "SIAP-2", "SIAP-3", "SIAP-4", "LIAP-1", "LIAP-2"]
Three = tuple[Error, Error, Error]
Four = tuple[Error, Error, Error, Error]
Five = tuple[Error, Error, Error, Error, Error]


class Gains(Record):
    """Mean share by which errors fall from vio_uwb to virpo."""

    iap_simulator: Positive
    virpo: Positive


class Published(Record):
    """Errors [m] of the papers' tables; None is what they leave out."""

    anchors: dict[Count, Positive]  # iap_simulator TABLE VII
    scenes: dict[SceneName, dict[Body, Three]]  # iap_simulator TABLE VIII
    neighbours: dict[Sequence, dict[Drone, Four]]  # virpo TABLE I
    terms: dict[Sequence, dict[Drone, Five]]  # virpo TABLE II
    sizes: Literal["falling"]  # virpo Fig. 5c
    gains: Gains

    def scene(self, case: str, body: str, method: str) -> float | None:
        """An error of TABLE VIII; None where it has none."""
        errors = self.scenes.get(case, {}).get(body)  # type: ignore[call-overload]
        return _column(errors, SCENES, method)

    def neighbour(self, sequence: str, body: str, method: str) -> float | None:
        """An error of TABLE I; None where it has none."""
        errors = self.neighbours.get(sequence, {}).get(body)  # type: ignore[call-overload]
        return _column(errors, NEIGHBOURS, method)

    def term(self, sequence: str, body: str, method: str) -> float | None:
        """An error of TABLE II; None where it has none."""
        errors = self.terms.get(sequence, {}).get(body)  # type: ignore[call-overload]
        return _column(errors, TERMS, method)


def _column(errors: tuple[Error, ...] | None, names: tuple[str, ...], name: str) -> float | None:
    return None if errors is None or name not in names else errors[names.index(name)]


@cache
def published() -> Published:
    """The papers' numbers.

    Raises:
        BadInput: the file has a wrong key.
    """
    return validate(Published, read_yaml(FILE), source=str(FILE))
