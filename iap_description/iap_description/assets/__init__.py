# SPDX-License-Identifier: BSD-3-Clause
"""Files of shapes and images that others made: meshes with textures, checked before they are used."""
