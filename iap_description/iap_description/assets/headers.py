# SPDX-License-Identifier: BSD-3-Clause
"""Heads of files of meshes, read before they are loaded: what they need, and how large they are."""

import base64
import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from iap_description.assets.images import check_size, file_bytes
from iap_description.assets.kinds import GLTF_KINDS
from iap_description.config.json_files import finite, refused
from iap_description.config.text_files import is_file

GLB_MAGIC, JSON_CHUNK, BIN_CHUNK = 0x46546C67, 0x4E4F534A, 0x004E4942
MAX_STRENGTH = 1e9  # of emission
TRIANGLES = 4  # glTF's mode of triangles
EXTENSIONS = {  # that a file may require
    "EXT_texture_webp",
    "KHR_lights_punctual",
    "KHR_materials_clearcoat",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_specular",
    "KHR_materials_unlit",
}
Tree = dict[str, Any]


def check(path: Path, kind: str, most: int) -> None:
    """Refuse a file that names missing files, needs what is not supported, or is too large.

    Raises:
        ValueError: so it is.
    """
    file_bytes(path)
    if kind in GLTF_KINDS:
        _check_gltf(path, most)
    elif kind == "obj":
        for name in _files_of_obj(path):
            _check_named(path, name)
    elif kind == "ply":
        header = path.open("rb").read(1 << 14).partition(b"end_header")[0]
        match = re.search(rb"element face (\d+)", header)
        check_count(path, int(match[1]) if match else 0, most)
    elif kind == "stl":
        size, head = path.stat().st_size, path.open("rb").read(84)
        count = struct.unpack("<I", head[80:])[0] if len(head) == 84 else 0
        check_count(path, count if size == 84 + 50 * count else 0, most)


def _check_named(path: Path, name: str) -> None:
    named = path.parent / name
    if not is_file(named):
        raise ValueError(f"{path} names a file that is not there: {named}")
    file_bytes(named)


def check_count(path: Path, count: int, most: int) -> None:
    """Refuse more triangles than so many.

    Raises:
        ValueError: there are more.
    """
    if count > most:
        raise ValueError(
            f"{path} has {count} triangles, more than {most}: give 'triangles', the number to keep"
        )


def _check_gltf(path: Path, most: int) -> None:
    tree, binary = _gltf(path)
    try:
        missing = [each for each in tree.get("extensionsRequired", []) if each not in EXTENSIONS]
        if missing:
            raise ValueError(
                f"{path} requires the glTF extension {', '.join(missing)}, which is not supported: export it without"
            )
        for name in _files_of_gltf(tree):
            _check_named(path, name)
        check_count(path, sum(_triangles(tree, root, ()) for root in _roots(tree)), most)
        for k, image in enumerate(tree.get("images", [])):
            check_size(_image_bytes(tree, image, binary, path), f"{k} of {path}")
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is not a glTF file: its JSON is damaged ({error})") from error
    except RecursionError as error:
        raise ValueError(f"{path} has nodes below nodes without end") from error


def emissive_strengths(path: Path) -> dict[str, float]:
    """Factors on what materials emit, by their names (KHR_materials_emissive_strength).

    Raises:
        ValueError: materials of one name differ in it, or it is no number from 0 on.
    """
    strengths: dict[str, float] = {}
    for material in _gltf(path)[0].get("materials", []):
        name, strength = _named_strength(material, path)
        if not isinstance(strength, int | float) or not 0.0 <= strength <= MAX_STRENGTH:
            raise ValueError(
                f"{path}: material '{name}' has an emissiveStrength of {strength}, not of 0 to {MAX_STRENGTH:g}"
            )
        if strengths.setdefault(name, float(strength)) != strength:
            raise ValueError(
                f"{path}: two materials '{name}' differ in emissiveStrength: give them names of their own"
            )
    return strengths


def _named_strength(material: Any, path: Path) -> tuple[str, Any]:  # noqa: ANN401 - JSON
    """Name of a glTF's material, empty without one, and what it says of its emission."""
    try:
        name = material.get("name") or ""
        extension = material.get("extensions", {}).get("KHR_materials_emissive_strength", {})
        strength = extension.get("emissiveStrength", 1.0)
    except AttributeError as error:
        raise ValueError(f"{path} is not a glTF file: its JSON is damaged ({error})") from error
    if not isinstance(name, str):
        raise ValueError(f"{path} is not a glTF file: a material's name is no text")
    return name, strength


def _gltf(path: Path) -> tuple[Tree, bytes]:
    """The JSON of a glTF file, and its binary chunk."""
    data = file_bytes(path)
    binary, text = b"", data
    if path.suffix.lower() == ".glb":
        try:
            magic, version, _ = struct.unpack_from("<III", data)
            size, kind = struct.unpack_from("<II", data, 12)
        except struct.error as error:
            raise ValueError(f"{path} is not a glTF file: it is cut short") from error
        if magic != GLB_MAGIC or kind != JSON_CHUNK:
            raise ValueError(f"{path} is not a binary glTF file")
        if version != 2:
            raise ValueError(f"{path} is of glTF version {version}: version 2 is supported")
        text, binary = data[20 : 20 + size], data[28 + size :]
    try:
        tree = json.loads(text, parse_float=finite, parse_constant=refused)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a glTF file: {error}") from error
    if not isinstance(tree, dict) or not isinstance(tree.get("asset"), dict):
        raise ValueError(f"{path} is not a glTF file: it has no key 'asset'")
    if not str(tree["asset"].get("version", "")).startswith("2"):
        raise ValueError(f"{path} is not of glTF version 2")
    return tree, binary


def _files_of_gltf(tree: Tree) -> Iterator[str]:
    for each in (*tree.get("buffers", []), *tree.get("images", [])):
        uri = each.get("uri", "")
        if uri and not uri.startswith("data:"):
            yield unquote(uri)


def _roots(tree: Tree) -> list[int]:
    scenes = tree.get("scenes", [])
    if scenes:
        return list(scenes[tree.get("scene", 0)].get("nodes", []))
    return list(range(len(tree.get("nodes", []))))


def _triangles(tree: Tree, node: int, above: tuple[int, ...]) -> int:
    """Triangles of a node and those below it."""
    if node in above:
        raise ValueError(f"node {node} of the glTF file is below itself")
    this = tree["nodes"][node]
    count = sum(_triangles(tree, each, (*above, node)) for each in this.get("children", []))
    if "mesh" not in this:
        return count
    for each in tree["meshes"][this["mesh"]]["primitives"]:
        if each.get("mode", TRIANGLES) == TRIANGLES:
            corners = each.get("indices", each["attributes"].get("POSITION"))
            count += tree["accessors"][corners]["count"] // 3
    return count


def _image_bytes(tree: Tree, image: Tree, binary: bytes, path: Path) -> bytes:
    """The bytes of an image of a glTF file."""
    if "uri" in image:
        return _uri_bytes(image["uri"], path)
    view = tree["bufferViews"][image["bufferView"]]
    uri = tree["buffers"][view["buffer"]].get("uri")
    data = binary if uri is None else _uri_bytes(uri, path)
    first = view.get("byteOffset", 0)
    return data[first : first + view["byteLength"]]


def _uri_bytes(uri: str, path: Path) -> bytes:
    if uri.startswith("data:"):
        return base64.b64decode(uri.partition(",")[2])
    return file_bytes(path.parent / unquote(uri))


def _files_of_obj(path: Path) -> Iterator[str]:
    """Files of materials that an OBJ names, and of images that these name."""
    with path.open(encoding="utf-8", errors="replace") as file:
        libraries = [line[7:].strip() for line in file if line.startswith("mtllib ")]
    for library in filter(None, libraries):
        yield library
        home = path.parent / library
        if not is_file(home):
            continue
        for line in home.read_text(encoding="utf-8", errors="replace").splitlines():
            words = line.split()
            if words[:1] and words[0].lower() in ("map_kd", "map_bump", "norm") and len(words) > 1:
                yield words[-1]
