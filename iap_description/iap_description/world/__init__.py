# SPDX-License-Identifier: BSD-3-Clause
"""The world and its objects, surfaces and solids."""
