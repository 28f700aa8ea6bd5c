# SPDX-License-Identifier: BSD-3-Clause
"""Aircraft, platforms, tools, and the assembly of bodies and joints."""
