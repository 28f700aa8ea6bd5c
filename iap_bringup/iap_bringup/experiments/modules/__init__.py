# SPDX-License-Identifier: BSD-3-Clause
"""The joints between modules."""
