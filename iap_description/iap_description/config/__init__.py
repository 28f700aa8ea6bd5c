# SPDX-License-Identifier: BSD-3-Clause
"""Configuration: strict records, YAML, plug-ins, text files, bounds."""
