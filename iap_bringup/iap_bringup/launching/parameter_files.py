# SPDX-License-Identifier: BSD-3-Clause
"""Parameter files of nodes, and other files that live as long as the process that launches."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml


class _ParameterDumper(yaml.SafeDumper):
    """YAML as rcl reads it, which is version 1.1 without aliases: a bare ``y`` would be a bool."""

    def ignore_aliases(self, _: object) -> bool:
        """Write what occurs twice twice."""
        return True


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else '"'  # YAML within YAML stays readable
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_ParameterDumper.add_representer(str, _text_node)


def parameters_text(tree: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of a parameter file, of the parameters by the nodes' full names."""
    nodes = {name: {"ros__parameters": dict(values)} for name, values in tree.items()}
    return yaml.dump(
        nodes, Dumper=_ParameterDumper, sort_keys=False, allow_unicode=True, width=1 << 20
    )


def temporary_file(name: str, text: str) -> str:
    """Path of a new file of some name, which goes when this process ends."""
    path = Path(tempfile.mkdtemp(dir=_folder())) / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@cache
def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="iap_launch_")
    atexit.register(shutil.rmtree, folder)
    return folder
