# SPDX-License-Identifier: BSD-3-Clause
"""Flying on an estimate: sensors' readings in, the states that a controller goes by out."""
