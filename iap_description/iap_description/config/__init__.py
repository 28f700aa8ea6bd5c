# SPDX-License-Identifier: BSD-3-Clause
"""Configuration: strict records from YAML, presets, plug-ins, text files, bounds on values."""
