# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the study of modules as its flights would say them."""

from iap_bringup.experiments.modules.cases import cases
from iap_bringup.experiments.modules.recorded_bars import bar_cases, recorded_bars

DESIRED = [5.0, 0.0, 0.0, 0.0, 1.0, 0.0]


def joint(**changes):
    """What a flight says of a joint."""
    return {
        "force_n": 3.0, "force_first_n": 1.0, "wrench": DESIRED, "caught_s": 5.0, "force_after_catch_n": 0.01,
        "force_rms_n": 0.02, "torque_rms_nm": 0.03, "released": {"position_m": 0.001, "rotation_rad": 0.002}, **changes,
    }  # fmt: skip


def row(errors=None, joints=None, outcome="completed", **changes):
    """What a flight says: small errors of all modules but those that are named."""
    every = {f"m{k}": [1e-5] * 6 for k in range(1, 9)} | (errors or {})
    modules = {
        "rmse": every,
        "rmse_steady": every,
        "joint_force_n": 0.001,
        "joint_torque_nm": 0.002,
    }
    modules |= {"joints": joints or {"j1": joint()}, **changes}
    return {"outcome": outcome, "modules": modules}


def limits():
    """Limits of all bars by what is measured; those that are least ones have a sign."""
    every = {
        case.name: [row() for _ in case.seeds] for case in [*cases(), *bar_cases(quick=False)]
    }
    found = recorded_bars(every, quick=False)
    return {bar.what: -bar.limit if bar.at_least else bar.limit for bar in found}


def bars(*, quick=False, **rows):
    """Measured values by what is measured; rows of cases by their names, of others small ones."""
    every = {
        case.name: [row() for _ in case.seeds]
        for case in [*cases(quick=quick), *bar_cases(quick=quick)]
    }
    unknown = set(rows) - set(every)
    assert not unknown, unknown
    return {bar.what: bar.measured for bar in recorded_bars({**every, **rows}, quick=quick)}
