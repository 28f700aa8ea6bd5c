# SPDX-License-Identifier: BSD-3-Clause
"""Plants identified from flight logs: velocity commands in, velocities out."""
