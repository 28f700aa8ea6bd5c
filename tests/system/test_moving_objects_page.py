# SPDX-License-Identifier: BSD-3-Clause
"""The code and the commands of docs/how_to/moving_objects.md work."""

import re
import shlex

import pytest
from pages import DOCS, output

from iap_bringup.cli.main import parse

PAGE = (DOCS / "how_to" / "moving_objects.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_commands_are_understood():
    for line in re.findall(r"^    \./iap (.*?) *(?:#.*)?$", PAGE, re.MULTILINE):
        parse(shlex.split(line))


@pytest.mark.slow
def test_the_code_of_the_page_works(tmp_path):
    (tmp_path / "example.py").write_text("".join(EXAMPLES), encoding="utf-8")
    assert "(16, 48, 64)" in output(tmp_path, "example.py")
