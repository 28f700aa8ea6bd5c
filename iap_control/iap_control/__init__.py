# SPDX-License-Identifier: BSD-3-Clause
"""Control: motion controllers, interaction, allocation and references."""
