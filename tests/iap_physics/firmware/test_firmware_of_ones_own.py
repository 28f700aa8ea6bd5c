# SPDX-License-Identifier: BSD-3-Clause
"""A firmware of the user's own, by `firmware.name: module:Class` and with keys of its own."""

import pytest
from firmwares import FAKES, flight

from iap_description.errors import BadInput

SOURCE = """
from f450_loops import attitude_loop, mixed

from iap_description.frames import to_ned
from iap_physics.firmware.firmware import RotorShares


class Own:
    boot_time = arming_time = 0.01

    def __init__(self, settings, aircraft, number, rng):
        self.idle = settings.idle

    def begin(self): ...
    def connect(self): ...
    def end(self): ...
    def write(self, folder): ...

    def tell(self, t_ns, motion, order):
        self.motion, self.order = motion, order

    def ask(self):
        motion, order = self.motion, self.order
        p, q, r = motion.w_WB_B
        turns = attitude_loop(to_ned(motion.q_WB), to_ned(order.q_WB), (0.0, 0.0, 0.0), (p, -q, -r))
        shares = mixed(max(order.share, self.idle), turns)
        return RotorShares(shares if order.is_armed else (0.0,) * 4, order.is_armed)

    def obstacles(self):
        return ""
"""


@pytest.fixture
def at_home(tmp_path, monkeypatch):
    """A folder with the user's module, from which the suite is called."""
    (tmp_path / "own_firmware.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(FAKES)


def test_it_flies_with_a_key_of_its_own(at_home):
    assert flight({"name": "own_firmware:Own", "idle": 0.02}, 0.5)[0] < 0.005


def test_a_class_without_a_method_is_refused_by_it(at_home):
    with pytest.raises(BadInput, match="'pathlib:PurePath' has no method 'begin'"):
        flight({"name": "pathlib:PurePath"}, 0.5)
