# SPDX-License-Identifier: BSD-3-Clause
"""Services of physics_node that other simulators have, too: those of simulation_interfaces."""
