# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions: vehicles, worlds, states and the rotations and frames they are expressed in."""

from iap_description.kernel_folder import set_kernel_folder, set_kernel_stamps

__version__ = "0.6.0"

set_kernel_folder()  # before numba is imported
set_kernel_stamps()
