# SPDX-License-Identifier: BSD-3-Clause
"""Aircraft, platforms, arms, tools, ports, and the assembly of bodies and joints."""
