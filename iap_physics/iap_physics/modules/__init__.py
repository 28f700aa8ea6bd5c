# SPDX-License-Identifier: BSD-3-Clause
"""Joints between modules that fly joined: opened and closed in the engine, also by another process."""
