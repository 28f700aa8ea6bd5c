# SPDX-License-Identifier: BSD-3-Clause
"""Trees within string parameters, in a form that `ros2 param dump` and `ros2 param load` hand on unchanged.

ROS parameters have no trees. rclpy's `load` reads every string as YAML once more, and fails at one that is a mapping.
"""

import json

from iap_description.config.plain_yaml import parse_yaml
from iap_description.errors import BadInput

PREFIX = "json "
"""Begins a text that YAML reads as a plain scalar: without line breaks, ``: `` and `` #`` (YAML 1.1, 9.1.3)."""


def loadable(text: str) -> str:
    """A parameter's text as a node shows it: what is YAML of a tree becomes ``json {...}``, which YAML reads as itself.

    Other texts stay; so does what is no YAML, which the taker of the parameter refuses.
    """
    try:
        tree = None if text.startswith(PREFIX) else parse_yaml(text, source="")
    except BadInput:
        return text
    if not isinstance(tree, dict | list):
        return text
    word = json.dumps(tree, separators=(",", ":")).replace(" ", "\\u0020")
    return PREFIX + word if json.loads(word) == tree else text  # JSON has texts alone as keys


def yaml_of(text: str) -> str:
    """The YAML that a shown text stands for, with a line break as every YAML of a tree has one; other texts stay."""
    return f"{text.removeprefix(PREFIX)}\n" if text.startswith(PREFIX) else text
