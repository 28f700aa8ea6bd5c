# SPDX-License-Identifier: BSD-3-Clause
"""Modules from files: chains that cannot be, and records that are damaged, are refused with their key or file."""

import numpy as np
import pytest

from iap_control.modules.exchange import JointState, ModuleRole
from iap_description.errors import BadInput
from iap_simulation.modules.record import FILE, ModulesInstant, ModulesRecord, read_modules
from iap_simulation.scenario.resolving import Options, resolve


@pytest.mark.parametrize(
    ("sets", "key"),
    [
        (("modules.count=9",), "modules.count"),
        (("modules.count=2", "modules.size=wide"), "modules.size"),
        (("modules.count=2", "modules.size=-1.0"), "modules.size"),
        (("vehicles.0.offset=3.0", "modules.count=2"), "vehicles.0.offset"),
        (("vehicles.0.offset=[x, 0.0, 0.0]", "modules.count=2"), "vehicles.0.offset.0"),
    ],
)
def test_a_chain_that_cannot_be_is_refused_by_its_key(sets, key):
    with pytest.raises(BadInput, match=f"key '{key}"):
        resolve("module_hover", Options(assignments=sets))


def written(folder):
    record = ModulesRecord(["j1"], 2)
    zeros = np.zeros((2, 6))
    for t in (0.0, 0.1):
        states, roles = [next(iter(JointState))], [next(iter(ModuleRole))] * 2
        record.add(ModulesInstant(t, states, roles, np.zeros((1, 6)), zeros, zeros, zeros))
    record.write(folder)
    return folder / FILE


def test_a_record_is_read_as_it_was_written(tmp_path):
    arrays = read_modules(written(tmp_path))
    assert arrays["t"].tolist() == [0.0, 0.1] and arrays["joints"].tolist() == ["j1"]
    assert arrays["errors"].shape == (2, 2, 6)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("t", lambda _: None),
        ("errors", lambda a: a[:, :1]),
        ("roles", lambda a: a[0]),
        ("joint_wrenches", lambda a: a.astype("U8")),
        ("states", lambda a: a[:1]),
        ("states", lambda a: a + 100.0),
        ("states", lambda a: a - 1.0),
        ("states", lambda a: a + 0.5),
        ("states", lambda a: a * np.nan),
        ("roles", lambda a: a + 100.0),
        ("state_names", lambda a: a[:0]),
        ("state_names", lambda a: a[None]),
        ("joints", lambda _: np.zeros(1)),
    ],
)
def test_a_damaged_record_is_refused_with_the_array(tmp_path, name, damage):
    path = written(tmp_path)
    with np.load(path) as file:
        arrays = dict(file)
    changed = damage(arrays.pop(name))
    np.savez(path, **arrays, **({} if changed is None else {name: changed}))
    with pytest.raises(BadInput, match=f"{FILE}: array '"):
        read_modules(path)
