# SPDX-License-Identifier: BSD-3-Clause
"""The air: wind, gusts, drag."""
