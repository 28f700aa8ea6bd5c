# SPDX-License-Identifier: BSD-3-Clause
"""The suite's controller in many worlds at once."""
