# SPDX-License-Identifier: BSD-3-Clause
"""Style of plots, and plots as files."""
