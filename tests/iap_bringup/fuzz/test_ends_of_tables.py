# SPDX-License-Identifier: BSD-3-Clause
"""Damage to tables and XML by the least and the largest draws, and made recordings as their formats say."""

import numpy as np
import pytest
import yaml
from drawn_ends import Largest, Least
from rosbags.highlevel import AnyReader

from iap_bringup.fuzz import made_recordings, made_texts, setting_kind, table_damage
from iap_bringup.fuzz.damage import VALUES, WORDS
from iap_bringup.fuzz.made_bags import SECOND
from iap_bringup.fuzz.table_damage import CELLS, damaged_table, damaged_xml

ROWS = [[str(k), repr(0.5 * k), "word"] for k in range(60)]


def rows():
    """Sixty rows of a whole number, half of it, and a word."""
    return [list(row) for row in ROWS]


def damaged(change, rng):
    """Rows after a change."""
    out = rows()
    change(out, rng)
    return out


def column(found, k):
    """A column of rows."""
    return [row[k] for row in found]


class Drawn(Least):
    """Draws what is given, one after the other, of choices; of all else the least."""

    def __init__(self, *picks, share=0.0, index=0):
        super().__init__()
        self.picks, self.share, self.index = list(picks), share, index

    def choice(self, values):
        """The value at the next place."""
        return values[self.picks.pop(0)] if self.picks else values[0]

    def random(self):
        """The given share."""
        return self.share

    def randrange(self, begin, end=None):
        """The given index."""
        return self.index

    def gauss(self, mean, width):
        """One deviation."""
        return mean + width


def test_a_cell_a_column_or_a_stretch_of_it_becomes_a_word():
    assert damaged(table_damage._cell, Least()) == [["nan", *ROWS[0][1:]], *ROWS[1:]]
    assert damaged(table_damage._cell, Largest()) == [*ROWS[:59], [*ROWS[59][:2], CELLS[-1]]]
    found = damaged(table_damage._column, Drawn(0, 0, 0, index=2))
    assert column(found, 2) == ["nan"] * 60 and column(found, 1) == column(ROWS, 1)
    found = damaged(table_damage._column, Drawn(0, 0, 1))  # a stretch of the least length
    assert column(found, 0) == ["nan", *column(ROWS, 0)[1:]]
    short = [["1"], ["1", "2"]]
    table_damage._column(short, Drawn(0, 0, 0, index=1))
    assert short == [["1"], ["1", "nan"]]
    assert table_damage._stretch(rows(), Largest()) == ROWS[59:]
    assert table_damage._stretch(rows(), Drawn(0, 1)) == ROWS[:1]


@pytest.mark.parametrize(
    ("change", "picks", "whole", "half"),
    [
        (table_damage._scale, (5, 0, 0), "3", "1.75"),  # times 0.5
        (table_damage._scale, (8, 0, 0), "7000", "3500.0"),
        (table_damage._shift, (0, 8, 0, 0), "-993", "-996.5"),
        (table_damage._shift, (1, 8, 0, 0), "1007", "1003.5"),
        (table_damage._noise, (0, 0), "7", repr(3.5 + 1e-6)),
    ],
)
def test_numbers_change_by_a_factor_a_step_or_noise_and_whole_ones_stay_whole(
    change, picks, whole, half
):
    for index, text in ((0, whole), (1, half)):
        found = damaged(change, Drawn(*picks, index=index))
        assert found[7][index] == text
        assert column(found, 2) == ["word"] * 60 and column(found, 1 - index) == column(
            ROWS, 1 - index
        )
    assert column(damaged(change, Drawn(*picks, index=2)), 2) == ["word"] * 60


def test_noise_has_at_most_a_million():
    class Wide(Largest):
        def randrange(self, begin, end=None):
            return 1

        def gauss(self, mean, width):
            return mean + width

        def choice(self, values):
            return values[0]

    assert damaged(table_damage._noise, Wide())[0][1] == "1000000.0"


def test_rows_are_left_out_come_again_and_change_their_order():
    for pick, left in ((0, 59), (1, 55), (2, 30), (3, 0)):
        assert damaged(table_damage._left_out, Drawn(pick)) == ROWS[60 - left :]
    assert damaged(table_damage._again, Drawn(0)) == [ROWS[0], *ROWS]
    assert damaged(table_damage._again, Drawn(1)) == [*ROWS, ROWS[0]]
    assert damaged(table_damage._again, Drawn(0, index=58)) == [*ROWS[:58], ROWS[58], *ROWS[58:]]

    class Most(Drawn):
        def randint(self, low, high):
            return high

    assert damaged(table_damage._again, Most(1)) == [*ROWS, *ROWS[:50]]
    assert damaged(table_damage._order, Drawn(share=0.299)) == ROWS[::-1]
    shuffled = damaged(table_damage._order, Drawn(share=0.3))
    assert sorted(shuffled) == sorted(ROWS) and shuffled not in (ROWS, ROWS[::-1])
    assert sorted(damaged(table_damage._order, Drawn(share=0.599))) == sorted(ROWS)

    class Two(Drawn):
        def randrange(self, begin, end=None):
            self.index += 3
            return self.index

    found = damaged(table_damage._order, Two(share=0.6))
    assert found == [*ROWS[:3], ROWS[6], *ROWS[4:6], ROWS[3], *ROWS[7:]]
    swapped = damaged(table_damage._swap, Drawn(index=0))
    assert swapped == ROWS
    one = [["a", "b", "c", "d", "e", "f", "g"], ["a", "b", "c", "d", "e", "f"]]
    table_damage._swap(one, Two())
    assert one == [["a", "b", "c", "g", "e", "f", "d"], ["a", "b", "c", "d", "e", "f"]]


def test_a_column_is_put_in_or_left_out():
    assert damaged(table_damage._width, Drawn(0, 0, *[0] * 120, share=0.499, index=1))[3] == [
        "3", "0.0", "1.5", "word",
    ]  # fmt: skip
    found = damaged(table_damage._width, Drawn(0, 0, share=0.5, index=1))
    assert [row[1] for row in found] == ["word"] * 60


def test_the_head_of_a_table_stays_and_one_of_a_single_row_as_it_is():
    table = "# a\nt x\n1 2\n3 4\n"
    assert damaged_table(table, Least()) == b"# a\nt x\nnan 2\n3 4\n"
    assert damaged_table("t,x\n1,2\n", Least()) == b"t,x\n1,2\n"
    assert damaged_table("", Least()) == b""
    assert damaged_table("a 1\n1,2\n3,4\n", Least()) == b"a 1\nnan,2\n3,4\n"


@pytest.mark.parametrize(
    ("share", "found"),
    [
        (0.0, '<a k="nan"><b>2</b><c /></a>'),
        (0.6, '<a k="1">nan<b>2</b><c /></a>'),
        (0.75, '<a k="1"><c /></a>'),
        (0.85, '<a k="1"><b>2</b><c /><b>2</b></a>'),
        (0.93, '<a k="1"><b>2</b><c /></a>'),
    ],
)
def test_parts_of_xml_are_changed_left_out_or_come_twice(share, found):
    class Share(Least):
        def random(self):
            return self.shares.pop(0) if self.shares else 0.0

    rng = Share()
    rng.shares = [share]
    assert damaged_xml('<a k="1"><b>2</b><c/></a>', rng).decode() == found


@pytest.mark.parametrize(
    ("shares", "found"),
    [
        ((0.199,), "nan"), ((0.2, 0.149), "2 x"), ((0.2, 0.15), "1 2 x 1"), ((0.2, 0.299), "1 2 x 1"),
        ((0.2, 0.3), "-1.0 2 x"), ((0.2, 0.699), "-1.0 2 x"), ((0.2, 0.7), "nan 2 x"),
    ],
)  # fmt: skip
def test_a_word_of_several_is_another_one_more_or_one_less(shares, found):
    class Share(Least):
        def random(self):
            return self.shares.pop(0)

    rng = Share()
    rng.shares = list(shares)
    assert table_damage._other_words("1 2 x", rng) == found and rng.shares == []


def test_a_made_pair_has_its_places_focal_lengths_and_truth(tmp_path):
    made_recordings.write_euroc(tmp_path / "a", made_recordings.resting(0.1))
    made_recordings.write_euroc(tmp_path / "b", made_recordings.resting(0.1), truth=False)
    home = tmp_path / "a" / "mav0"
    assert sorted(each.name for each in home.iterdir()) == [
        "cam0", "cam1", "imu0", "state_groundtruth_estimate0",
    ]  # fmt: skip
    assert not (tmp_path / "b" / "mav0" / "state_groundtruth_estimate0").exists()
    truth = (home / "state_groundtruth_estimate0" / "data.csv").read_text().splitlines()
    assert len(truth[1].split(",")) == 17 and truth[1].split(",")[1:5] == [
        "1.0",
        "2.0",
        "3.0",
        "1.0",
    ]
    about = yaml.safe_load((home / "cam1" / "sensor.yaml").read_text())
    T = np.reshape(about["T_BS"]["data"], (4, 4))
    assert T[:3, 3].tolist() == made_recordings.LEVERS[1].tolist() and T[3].tolist() == [
        0,
        0,
        0,
        1,
    ]
    width, height = about["resolution"]
    focal = made_recordings.FOCAL_LENGTH
    assert about["intrinsics"] == [focal, focal, 0.5 * (width - 1), 0.5 * (height - 1)]
    unit = yaml.safe_load((home / "imu0" / "sensor.yaml").read_text())
    assert np.array_equal(np.reshape(unit["T_BS"]["data"], (4, 4)), np.eye(4))
    with pytest.raises(FileExistsError):
        made_recordings.write_table(home / "imu0", "", [])
    made_recordings.write_table(tmp_path / "deep" / "er", "x", [(1, (2.0, 3.5))])
    assert (
        tmp_path / "deep" / "er" / "data.csv"
    ).read_text() == "#timestamp [ns], ...\n1,2.0,3.5\n"


def test_a_made_bag_of_wrenches_has_poses_a_millisecond_late_and_two_wrenches_each(tmp_path):
    made_recordings.write_wrench_bag(tmp_path)
    with AnyReader([tmp_path / "wrenches_db3"]) as reader:
        found = [
            (c.topic, t, reader.deserialize(raw, c.msgtype)) for c, t, raw in reader.messages()
        ]
    begin = made_recordings.START
    at = {topic: [t - begin for name, t, _ in found if name == topic] for topic, _, _ in found}
    assert at["/truth"] == at["/wrench"] == at["/felt"] == [10_000_000 * k for k in range(50)]
    assert at["/flown"] == [10_000_000 * k + 1_000_000 for k in range(50)]
    last = {topic: message for topic, _, message in found}
    p = last["/flown"].pose.position
    assert (p.x, p.y, p.z) == pytest.approx((0.005 * 49, 0.01, 1.0))
    felt, applied = last["/felt"], last["/wrench"]
    assert felt.header.frame_id == "map" and felt.wrench.force.y == 0.1
    assert (applied.wrench.force.x, applied.wrench.force.z, applied.wrench.torque.y) == (
        0.1,
        47.0,
        0.1,
    )
    stamp = applied.header.stamp
    assert stamp.sec * SECOND + stamp.nanosec == begin + 10_000_000 * 49


def test_made_logs_are_two_with_their_velocities_turned_for_matlab(tmp_path):
    from scipy.io import loadmat

    made_texts._write_tables(tmp_path)
    names = ["log_1.csv", "log_1.mat", "log_2.csv", "log_2.mat", "truth.csv", "truth.tum"]
    assert sorted(each.name for each in tmp_path.iterdir()) == names
    _, _, v = made_texts._log(2)
    matlab = loadmat(tmp_path / "log_2.mat")
    np.testing.assert_array_equal(matlab["yu_p"][0], v[0])
    np.testing.assert_array_equal(matlab["xu_p"][0], -v[1])
    truth = (tmp_path / "truth.csv").read_text().splitlines()
    assert len(truth) == 61 and truth[2].startswith("1400000000005000000,0.01,0.0,1.0,0.7071,")
    assert (tmp_path / "truth.tum").read_text().splitlines()[
        2
    ] == "0.005 0.01 0.0 1.0 0.0 -0.7071 0.0 0.7071"


def test_a_word_and_a_value_of_its_kind_are_drawn_equally_often():
    class Count(Least):
        def choice(self, values):
            self.drawn = values
            return values[0]

    rng = Count()
    setting_kind._other(5, rng)
    words = len(WORDS) + len(VALUES) + len(setting_kind.NUMBERS) + 1
    assert len(rng.drawn) == 3 * words and rng.drawn[-1] == "-5"
