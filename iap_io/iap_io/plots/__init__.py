# SPDX-License-Identifier: BSD-3-Clause
"""How plots look, and plots as files."""
