# SPDX-License-Identifier: BSD-3-Clause
"""Files, commands and code of docs/how_to/assets.md work in one folder; its tables have all keys and kinds."""

import json
import re
import shlex

import pytest
from pages import BLOCK, DOCS, output, write_files

from iap_description.assets.kinds import ASSET_KINDS
from iap_description.config.plain_yaml import parse_mapping
from iap_description.world.asset_obstacles import CONTACTS
from iap_description.world.obstacles import PRESETS
from iap_learning.training.curriculum import Curriculum

PAGE = (DOCS / "how_to" / "assets.md").read_text(encoding="utf-8")
PROGRAMS = {"./iap": ["-P", "-m", "iap_bringup.cli.main"], "python": []}


@pytest.mark.slow
def test_the_page_works_as_it_stands(tmp_path):
    write_files(PAGE, tmp_path)
    for line in "".join(
        text for kind, _, text in BLOCK.findall(PAGE) if kind == "sh"
    ).splitlines():
        program, *words = shlex.split(line)
        output(tmp_path, *PROGRAMS[program], *words)
    outcomes = [json.loads(each.read_text())["outcome"] for each in tmp_path.rglob("metrics.json")]
    assert outcomes == ["completed", "completed"]
    (code,) = (text for kind, name, text in BLOCK.findall(PAGE) if kind == "python" and not name)
    (tmp_path / "many.py").write_text(code, encoding="utf-8")
    printed = output(tmp_path, "many.py")
    assert "(8, 48, 64)" in printed and "50" in printed


def test_tables_have_every_key_of_the_preset_and_every_kind_of_file():
    for name in (*set(PRESETS.tree("assets")) - {"type"}, *ASSET_KINDS, *CONTACTS):
        assert f"`{name}`" in PAGE


def test_the_curriculum_is_one():
    (text,) = re.findall(r"^    online.curriculum:\n((?:      .*\n)+)", PAGE, re.MULTILINE)
    tree = parse_mapping(text, source="docs/how_to/assets.md")
    keys = Curriculum.model_validate(tree).scenario(0.5)
    assert keys["world.objects.things.count"] == 7
