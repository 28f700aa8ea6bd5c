# SPDX-License-Identifier: BSD-3-Clause
"""Models of vehicles under velocity commands, identified from logs of flights and validated on others."""
