# SPDX-License-Identifier: BSD-3-Clause
"""Docking in the air: what counts as success, the script that flies it, and how both enter the loop."""
