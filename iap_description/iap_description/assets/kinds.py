# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of files with shapes in them, by their endings."""

GLTF_KINDS = ("glb", "gltf")
MESH_KINDS = (*GLTF_KINDS, "obj", "ply", "stl", "off")
ASSET_KINDS = (*MESH_KINDS, "urdf")  # that obstacles of a folder come from
