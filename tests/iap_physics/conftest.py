# SPDX-License-Identifier: BSD-3-Clause
"""Platforms and flights that several physics tests share."""

import numpy as np
import pytest
from contact_engines import NAMES

from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_physics.engines.joints import joined_rows
from iap_physics.engines.make import make_engine


@pytest.fixture(params=NAMES)
def engine(request):
    """Each engine with contact, not loaded yet."""
    made = make_engine(request.param)
    yield made
    made.close()


@pytest.fixture(scope="session")
def assembly_of():
    """Assembly of a platform by name, and the vehicle's name."""
    return lambda platform, name="iap": Assembly.of(load_platform(platform), name)


@pytest.fixture(scope="session")
def level():
    """Rows (bodies, 13) of an assembly that is level, with a given position and velocity."""

    def rows(assembly, p=(0.0, 0.0, 2.0), v=(0.0, 0.0, 0.0)):
        return joined_rows(assembly, np.array([*p, 0.0, 0.0, 0.0, 1.0, *v, 0.0, 0.0, 0.0]))

    return rows


@pytest.fixture(scope="session")
def random_start():
    """Rows (bodies, 13) of an assembly in some motion."""

    def rows(assembly, seed=0):
        rng = np.random.default_rng(seed)
        base = np.concatenate([rng.normal(size=3), np.zeros(4), rng.normal(size=6)])
        base[3:7] = so3.normalized(rng.normal(size=4))
        joints = len(assembly.joints)
        q_WB = so3.normalized(rng.normal(size=(joints, 4)))
        return joined_rows(assembly, base, q_WB, 3.0 * rng.normal(size=(joints, 3)))

    return rows


@pytest.fixture(scope="session")
def flown():
    """States (steps, B, bodies, 13) of an engine flown with constant wrenches, none by default."""

    def states(engine, steps, dt=1e-3, wrenches=None):
        loads = np.zeros((*engine.state().shape[:2], 6)) if wrenches is None else wrenches
        record = []
        for _ in range(steps):
            engine.apply(loads)
            engine.step(dt)
            record.append(engine.state().copy())
        return np.array(record)

    return states
