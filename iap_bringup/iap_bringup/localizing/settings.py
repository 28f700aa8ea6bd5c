# SPDX-License-Identifier: BSD-3-Clause
"""Settings of front end and estimators, as ``--preset`` and ``--set`` give them."""

from collections.abc import Sequence

from iap_description.config import Record, override, validate
from iap_estimation.frontend import spec as frontend
from iap_estimation.virpo import spec as estimator


class Settings(Record):
    """How images are followed, and what estimators believe."""

    frontend: frontend.FrontendSpec
    estimator: estimator.VirpoSpec


def load_settings(preset: str = "default", assignments: Sequence[str] = ()) -> Settings:
    """Settings of a preset of the estimators.

    Args:
        preset: its name.
        assignments: each ``frontend.KEY=VALUE`` or ``estimator.KEY=VALUE``.

    Raises:
        BadInput: no such preset or key, or a value that is none.
    """
    tree = {
        "frontend": frontend.PRESETS.tree("default"),
        "estimator": estimator.PRESETS.tree(preset),
    }
    return validate(Settings, override(tree, list(assignments)), source=f"preset {preset}")
