# SPDX-License-Identifier: BSD-3-Clause
"""Writing a run: its recorder and its files."""
