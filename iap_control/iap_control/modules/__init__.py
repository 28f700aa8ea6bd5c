# SPDX-License-Identifier: BSD-3-Clause
"""Modules that dock and fly joined (BEATLE): coordinator, structures, wrenches between modules."""
