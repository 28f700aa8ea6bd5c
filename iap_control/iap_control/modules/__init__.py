# SPDX-License-Identifier: BSD-3-Clause
"""Modules that dock and fly joined: their structures, the wrench between them, and who commands what (BEATLE)."""
