# SPDX-License-Identifier: BSD-3-Clause
"""What the vehicle believes: pose errors and trajectory files."""
