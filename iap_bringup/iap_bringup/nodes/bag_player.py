# SPDX-License-Identifier: BSD-3-Clause
"""Plays the commands of a recorded flight into the running nodes: whatever `iap replay` reads, without rosbag2."""

from collections.abc import Mapping
from typing import Any

from iap_control.nodes.reference_node import ReferenceNode


class BagPlayer(ReferenceNode):
    """A reference_node of another name, whose reference is a bag's."""

    def __init__(self, *, namespace: str = "iap", given: Mapping[str, Any] | None = None) -> None:
        super().__init__("bag_player", namespace=namespace, given=given)
