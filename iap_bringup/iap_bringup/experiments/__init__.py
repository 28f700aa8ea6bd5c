# SPDX-License-Identifier: BSD-3-Clause
"""Experiments: the figures of README and docs, each from one command."""
