# SPDX-License-Identifier: BSD-3-Clause
"""Studies: the figures of README and docs, each from one command."""
