# SPDX-License-Identifier: BSD-3-Clause
"""Settings of front end and estimators, as ``--frontend``, ``--preset`` and ``--set`` give them."""

from collections.abc import Sequence

from iap_description.config.record import Record, override, validate
from iap_estimation.frontend import spec as frontend_spec
from iap_estimation.virpo import spec as estimator


class EstimationSettings(Record):
    """Settings of the front end and of the estimators."""

    frontend: frontend_spec.FrontendSpec
    estimator: estimator.VirpoSpec


def load_settings(
    preset: str = "default", assignments: Sequence[str] = (), frontend: str = "default"
) -> EstimationSettings:
    """Settings of presets of the estimators and of the front end.

    Args:
        preset: name of the estimators'.
        assignments: each ``frontend.KEY=VALUE`` or ``estimator.KEY=VALUE``.
        frontend: name of the front end's.

    Raises:
        BadInput: no such preset or key, or a value that is none.
    """
    tree = {
        "frontend": frontend_spec.PRESETS.tree(frontend),
        "estimator": estimator.PRESETS.tree(preset),
    }
    return validate(
        EstimationSettings, override(tree, list(assignments)), source=f"preset {preset}"
    )
