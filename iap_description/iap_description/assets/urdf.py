# SPDX-License-Identifier: BSD-3-Clause
"""Links of URDF files at rest: the tree of a text, where its links are, and the files that it names."""

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from iap_description.assets.poses import ORIGIN, Pose
from iap_description.errors import BadInput


def robot_of(text: str, source: str) -> Element:
    """The root of a URDF file's text.

    Raises:
        BadInput: it is not one.
    """
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise BadInput(f"{source}: not valid XML: {error}") from error
    if robot.tag != "robot":
        raise BadInput(f"{source}: its root is <{robot.tag}>, not <robot>")
    return robot


def link_poses(robot: Element, source: str) -> dict[str, Pose]:
    """Poses of all links in the frame of the root.

    Raises:
        BadInput: they are no tree.
    """
    names = [link.get("name", "") for link in robot.findall("link")]
    parents = {}
    for joint in robot.findall("joint"):
        ends = (joint.find("parent"), joint.find("child"))
        parent, child = (None if end is None else end.get("link") for end in ends)
        if parent not in names or child not in names:
            raise BadInput(f"{source}: joint '{joint.get('name')}' is of a link that is not there")
        parents[child] = (parent, origin_of(joint, source))
    roots = [name for name in names if name not in parents]
    if len(roots) != 1:
        raise BadInput(f"{source}: {len(roots)} links have no parent, a tree has one")
    poses = {roots[0]: ORIGIN}
    while len(poses) < len(names):
        new = {c: poses[p] @ T for c, (p, T) in parents.items() if p in poses and c not in poses}
        if not new:
            raise BadInput(f"{source}: its joints form a circle")
        poses |= new
    return poses


def origin_of(element: Element, source: str) -> Pose:
    """Pose of an element in the frame of its link."""
    origin = element.find("origin")
    return ORIGIN if origin is None else Pose.of(origin.get("xyz"), origin.get("rpy"), source)


def file_of(name: str, path: Path) -> Path:
    """The file of a URI; packages are folders above the file."""
    if not name.startswith("package://"):
        return path.parent / name.removeprefix("file://")
    package, _, rest = name.removeprefix("package://").partition("/")
    home = next((each for each in path.resolve().parents if each.name == package), path.parent)
    return home / rest
