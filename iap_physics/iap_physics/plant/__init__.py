# SPDX-License-Identifier: BSD-3-Clause
"""The plant: an engine, and what turns commands into wrenches on its bodies."""
