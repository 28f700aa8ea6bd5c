# SPDX-License-Identifier: BSD-3-Clause
"""Parts of recorded commands."""

import pytest

from iap_description.errors import BadInput
from iap_io.euroc.cut_recording import cut


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "flight.csv"
    rows = [f"{1_000_000_000 + 500_000_000 * k},{k}.0\n" for k in range(10)]
    path.write_text("#timestamp, x\n" + "".join(rows))
    return path


def test_a_part_has_the_head_and_what_comes_from_its_time_on(recording, tmp_path):
    lines = cut(recording, 3.0, tmp_path).read_text().splitlines()
    assert lines[0] == "#timestamp, x"
    assert [line.split(",")[1] for line in lines[1:]] == ["6.0", "7.0", "8.0", "9.0"]


@pytest.mark.parametrize("since", [4.5, 100.0])
def test_a_part_after_the_end_is_refused(recording, tmp_path, since):
    with pytest.raises(BadInput, match="nothing after that time"):
        cut(recording, since, tmp_path)


def test_stamps_are_needed(tmp_path):
    path = tmp_path / "flight.csv"
    path.write_text("t,x\n1,2\n")
    with pytest.raises(BadInput, match="does not begin with a stamp"):
        cut(path, 1.0, tmp_path)
    with pytest.raises(BadInput, match="no CSV file"):
        cut(tmp_path / "flight.bag", 1.0, tmp_path)
