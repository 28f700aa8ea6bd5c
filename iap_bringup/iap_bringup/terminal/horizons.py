# SPDX-License-Identifier: BSD-3-Clause
"""Errors of predictions by how far they look ahead, as a table and as numbers of metrics.json."""

import math
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from iap_simulation.identification.rotorcraft.prediction import Horizon

COLUMNS = (
    "attitude\n(deg)",
    "stays",
    "rate\nheld",
    "velocity\n(m/s)",
    "stays",
    "position\n(m)",
    "velocity\nheld",
)


def horizon_metrics(each: Horizon) -> dict[str, Any]:
    """Errors after one time, with the names of what they are of."""
    attitude = dict(zip(("model", "stays", "rate_held"), each.attitude_deg, strict=True))
    row = {"seconds": each.seconds, "windows": each.windows, "attitude_deg": attitude}
    if math.isfinite(each.velocity[0]):
        row["velocity_mps"] = dict(zip(("model", "stays"), each.velocity, strict=True))
    if math.isfinite(each.position[0]):
        pair = zip(("model", "constant_velocity"), each.position, strict=True)
        row["position_m"] = dict(pair)
    return row


def horizon_table(title: str, rows: Sequence[Horizon]) -> Table:
    """Errors of a model, each beside those of what is simpler."""
    table = Table("after\n(s)", title=title)
    for name in COLUMNS:
        table.add_column(name, justify="right")
    for each in rows:
        cells = [f"{x:.3g}" for x in each.attitude_deg]
        cells += ["-" if math.isnan(x) else f"{x:.3g}" for x in (*each.velocity, *each.position)]
        table.add_row(f"{each.seconds:g}", *cells)
    return table
