# SPDX-License-Identifier: BSD-3-Clause
"""Files of other programs as files of the suite: vehicles as platforms, meshes as objects."""
