# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios: from YAML and options to one resolved, checked configuration."""
