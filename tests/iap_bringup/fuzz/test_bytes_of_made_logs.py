# SPDX-License-Identifier: BSD-3-Clause
"""Made logs are what their formats say, byte by byte, and climb in circles."""

import struct
import zlib
from random import Random

import numpy as np
import pytest

from iap_bringup.fuzz import file_damage, made_logs
from iap_bringup.fuzz.made_logs import BOOT_US, HEAD, STEP, ULOG_HEADER, Rows, ULogWriter
from iap_bringup.fuzz.made_recordings import resting


def message(kind, payload):
    """A message of ULog."""
    return struct.pack("<HB", len(payload), ord(kind)) + payload


def test_a_log_of_px4_has_its_settings_topics_and_rows_in_order(tmp_path):
    log = ULogWriter()
    log.information("ver", "abc")
    log.parameter("MAV_TYPE", -2)
    log.topic("pose", "float[2] xy;bool on", [(9, 1.0, 2.0, 1)])
    log.topic("pose", "float[2] xy;bool on", [(5, 3.0, 4.0, 0)], instance=1)
    log.dropout(7, 20)
    found = log.write(tmp_path / "x.ulg").read_bytes()
    assert found == b"".join(
        [
            ULOG_HEADER, struct.pack("<Q", BOOT_US), message("B", bytes(40)),
            message("I", b"\x0bchar[3] verabc"), message("P", b"\x10int32_t MAV_TYPE" + struct.pack("<i", -2)),
            message("F", b"pose:uint64_t timestamp;float[2] xy;bool on;"),
            message("A", struct.pack("<BH", 0, 0) + b"pose"), message("A", struct.pack("<BH", 1, 1) + b"pose"),
            message("D", struct.pack("<HQff?", 1, 5, 3.0, 4.0, False)), message("O", struct.pack("<H", 20)),
            message("D", struct.pack("<HQff?", 0, 9, 1.0, 2.0, True)),
        ]
    )  # fmt: skip


def test_a_log_of_ardupilot_has_its_formats_first_and_rows_by_time():
    kinds = (
        Rows("B", "QB", "TimeUS,Id", [(9, 3)]),
        Rows("A", "fB", "X,N", [(1.0, 2)]),
        Rows("C", "Qf", "TimeUS,V", [(4, 0.5)]),
    )
    found = made_logs.dataflash(kinds)
    first = made_logs.FIRST_TYPE
    texts = struct.pack("<4s16s64s", b"B", b"QB", b"TimeUS,Id")
    size = 3 + 8 + 1  # head, type and content
    assert found.startswith(HEAD + bytes([128, 128, 89]))
    assert HEAD + bytes([128, first, size]) + texts in found
    assert found.endswith(
        HEAD + bytes([first + 1]) + struct.pack("<fB", 1.0, 2)
        + HEAD + bytes([first + 2]) + struct.pack("<Qf", 4, 0.5)
        + HEAD + bytes([first]) + struct.pack("<QB", 9, 3)
    )  # fmt: skip


def test_a_crazyflies_file_names_its_variables_and_ends_with_its_sum():
    found = made_logs.usd(
        [0.5, 1.0], (["a", "b"], [(1.0, 2.0), (3.0, 4.0)]), (["c"], [(5.0,), (6.0,)])
    )
    body = struct.pack("<BHH", 0xBC, 2, 2)
    body += struct.pack("<H", 0) + b"event\0" + struct.pack("<H", 2) + b"a(f)\0b(f)\0"
    body += struct.pack("<H", 1) + b"event\0" + struct.pack("<H", 1) + b"c(f)\0"
    body += struct.pack("<HQff", 0, 500_000, 1.0, 2.0) + struct.pack("<HQf", 1, 500_000, 5.0)
    body += struct.pack("<HQff", 0, 1_000_000, 3.0, 4.0) + struct.pack("<HQf", 1, 1_000_000, 6.0)
    assert found == body + struct.pack("<I", zlib.crc32(body))


def test_the_flight_of_logs_climbs_in_circles_with_the_velocities_of_its_places():
    t, places, speeds = made_logs._circle()
    np.testing.assert_allclose(np.gradient(places, STEP, axis=0)[1:-1], speeds[1:-1], atol=2e-3)
    assert places[0].tolist() == [1.0, 0.0, -2.0] and np.hypot(*places[:, :2].T) == pytest.approx(
        1.0
    )
    assert t[1] == STEP and t[-1] == pytest.approx(made_logs.DURATION - STEP)


def test_logs_of_all_kinds_are_written_with_what_the_flight_has(tmp_path):
    made_logs.write_all(tmp_path)
    _, places, speeds = made_logs._circle()
    px4 = (tmp_path / "flight.ulg").read_bytes()
    assert b"char[7] ver_hwMADE_UP" in px4
    for key, value in (("SYS_AUTOSTART", 4001), ("MAV_TYPE", 2), ("CA_ROTOR_COUNT", 4)):
        assert f"int32_t {key}".encode() + struct.pack("<i", value) in px4
    row = struct.pack("<6f4?", *places[1], *speeds[1], True, True, True, True)
    assert row in px4 and struct.pack("<Q4f", BOOT_US, 1.0, 0.0, 0.0, 0.0) in px4
    swap = np.array([1.0, -1.0, -1.0])
    crazyflie = struct.pack("<10f", *places[1] * swap, *speeds[1] * swap, 0.0, 0.0, 0.0, 1.0)
    assert crazyflie in (tmp_path / "flight_usd").read_bytes()
    lines = (tmp_path / "flight_blackbox.csv").read_text().splitlines()
    assert len(lines) == 503 and lines[3] == "0, 0, 90, 0, -180, 0, 0, 2048, 630, 630, 630, 630"
    assert lines[15] == "12, 12000, 90, 0, -180, 0, 0, 2048, 632, 632, 632, 632"
    ardupilot = (tmp_path / "flight.bin").read_bytes()
    begin, second = 50_000_000, round(1e6 * (50.0 + STEP))
    assert (
        struct.pack("<QB", begin, 10) in ardupilot and struct.pack("<QB", second, 28) in ardupilot
    )
    assert struct.pack("<QB6f", second, 0, *places[1], *speeds[1]) in ardupilot


def test_every_image_of_a_pair_has_its_number():
    pair = resting(0.2)
    assert [pair.image(side, 5)[0, 0] for side in (0, 1)] == [5, 5]
    assert (pair.image(1, 5) != pair.images[1]).sum() <= 1


class Shares(Random):
    """Draws given shares, one after the other, and the first of all else."""

    def __init__(self, *shares):
        super().__init__(1)
        self.shares = list(shares)

    def random(self):
        """The next share."""
        return self.shares.pop(0)

    def choice(self, values):
        """The first one."""
        return values[0]


@pytest.mark.parametrize(
    ("name", "shares", "how"),
    [
        ("a.yaml", (0.059,), "strange"),
        ("a.yaml", (0.06, 0.599, 0.79, 0.79), "detuned"),  # values of YAML are not told apart
        ("a.yaml", (0.06, 0.6, 0.8), "text"),
        ("a.json", (0.06, 0.6, 0.79, 0.8), "tree"),
        ("a.csv", (0.06, 0.599), "table"),
        ("a.csv", (0.06, 0.6), "text"),
        ("a.urdf", (0.06, 0.599), "xml"),
        ("a.mat", (0.06, 0.029), "bomb"),
        ("a.mat", (0.06, 0.03, 0.599), "matlab"),
        ("a.mat", (0.06, 0.03, 0.6), "bytes"),
        ("a.bin", (0.06, 0.0), "bytes"),
        ("a.bag", (0.06, 0.599), "bag"),
        ("a.npz", (0.06,), "archive"),
    ],
)
def test_shares_of_files_are_damaged_in_each_way(name, shares, how, tmp_path, monkeypatch):
    done = []

    def does(what, result):
        return lambda *_: done.append(what) or result

    monkeypatch.setattr(file_damage, "STRANGE_FILES", (does("strange", None),))
    for each, what, result in (
        ("_archive", "archive", b""), ("_matlab_bomb", "bomb", b""), ("detuned_tree", "detuned", {}),
        ("damaged_tree", "tree", {}), ("damaged_text", "text", b""), ("damaged_bytes", "bytes", b""),
        ("damage_bag", "bag", True), ("_damage_matlab", "matlab", True), ("damaged_table", "table", b""),
        ("damaged_xml", "xml", b""),
    ):  # fmt: skip
        monkeypatch.setattr(file_damage, each, does(what, result))
    (tmp_path / name).write_text("{}")
    rng = Shares(*shares)
    file_damage.damage(tmp_path / name, rng)
    assert done == [how] and rng.shares == []
