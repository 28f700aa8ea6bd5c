# SPDX-License-Identifier: BSD-3-Clause
"""Text files that users give: with marks, comments and gaps, or none."""

import pytest

from iap_description.config.text_files import read_text, table_lines
from iap_description.errors import BadInput


def test_lines_keep_their_numbers(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("\ufeff# time\n\n1, 2\n  # more\n3, 4\n", encoding="utf-8")
    assert list(table_lines(path)) == [(3, "1, 2\n"), (5, "3, 4\n")]
    assert read_text(path).startswith("# time")


def test_what_is_no_text_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xff\xfe\x00")
    for missing in (path, tmp_path / "none.csv"):
        with pytest.raises(BadInput, match=f"{missing.name}: cannot be read"):
            read_text(missing)
