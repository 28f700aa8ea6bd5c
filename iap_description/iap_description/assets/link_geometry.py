# SPDX-License-Identifier: BSD-3-Clause
"""Primitive shapes of links in URDF and SDF."""

from xml.etree.ElementTree import Element

from iap_description.assets.poses import Tree, numbers
from iap_description.errors import BadInput

SIZES = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
}


def primitive(geometry: Element, source: str) -> Tree | None:
    """The tree of a box, cylinder, sphere or capsule of URDF or SDF; None of another geometry.

    Raises:
        BadInput: a size is missing or no number.
    """
    for kind, keys in SIZES.items():
        element = geometry.find(kind)
        if element is None:
            continue
        tree: Tree = {"shape": kind}
        for key in keys:
            text = _text(element, key)
            if text is None:
                raise BadInput(f"{source}: a {kind} has no {key}")
            size = numbers(text, 3 if key == "size" else 1, source)
            tree[key] = size.tolist() if key == "size" else float(size[0])
        return tree
    return None


def _text(element: Element, key: str) -> str | None:
    """A value that URDF has as an attribute and SDF as an element."""
    return element.get(key) or element.findtext(key)
