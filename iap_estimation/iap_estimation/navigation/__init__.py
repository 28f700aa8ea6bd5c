# SPDX-License-Identifier: BSD-3-Clause
"""From sensor readings to estimates: one path for flights, nodes and data sets."""
