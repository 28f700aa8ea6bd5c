# SPDX-License-Identifier: BSD-3-Clause
"""The papers' figures of localisation: a strict record of ``data/published/virpo.yaml``."""

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from iap_bringup import DATA
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Record, validate
from iap_description.config.values import Positive

FILE = DATA / "published" / "virpo.yaml"
COLUMNS = {  # methods of the papers' tables
    "scenes": ("vio", "vio_uwb", "virpo"),
    "neighbours": ("vio", "vio_uwb", "self_phy", "virpo"),
    "terms": ("pos_drift", "pos_velo_drift", "pos_att_drift", "all_kin", "virpo"),
}

Count = Annotated[int, Field(strict=True, ge=0)]
Error = Positive | None  # RMSE of the absolute trajectory error [m]
Drone = Literal["drone_1", "drone_2", "drone_3"]
Body = Literal["drone_1", "drone_2", "drone_3", "center"]
SceneName = Literal["a1", "a2", "a3", "b", "c", "d"]
Sequence = Literal["SIAP-1", "SIAP-2", "SIAP-3", "SIAP-4", "LIAP-1", "LIAP-2"]
Three = tuple[Error, Error, Error]
Four = tuple[Error, Error, Error, Error]
Five = tuple[Error, Error, Error, Error, Error]


class PublishedGains(Record):
    """Mean share by which errors fall from vio_uwb to virpo."""

    iap_simulator: Positive
    virpo: Positive


class PublishedTables(Record):
    """Errors [m] of the papers' tables; None is what they leave out."""

    anchors: dict[Count, Positive]  # iap_simulator TABLE VII
    scenes: dict[SceneName, dict[Body, Three]]  # iap_simulator TABLE VIII
    neighbours: dict[Sequence, dict[Drone, Four]]  # virpo TABLE I
    terms: dict[Sequence, dict[Drone, Five]]  # virpo TABLE II
    sizes: Literal["falling"]  # virpo Fig. 5c
    gains: PublishedGains

    def error(self, table: str, case: str, body: str, method: str) -> float | None:
        """An error of one of `COLUMNS`' tables; None where that has none."""
        errors = getattr(self, table).get(case, {}).get(body)
        columns = COLUMNS[table]
        return None if errors is None or method not in columns else errors[columns.index(method)]

    def mean_error(
        self, table: str, cases: Iterable[str], bodies: Iterable[str], method: str
    ) -> float | None:
        """Mean error over bodies of several cases, without those that have none; None where no one has."""
        names = list(bodies)
        errors = [self.error(table, case, body, method) for case in cases for body in names]
        known = [each for each in errors if each is not None]
        return sum(known) / len(known) if known else None


@cache
def published() -> PublishedTables:
    """The papers' numbers.

    Raises:
        BadInput: the file has a wrong key.
    """
    return validate(PublishedTables, read_yaml(FILE), source=str(FILE))
