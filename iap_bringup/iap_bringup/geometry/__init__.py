# SPDX-License-Identifier: BSD-3-Clause
"""Objects of a scene cut open and seen from aside, for plots and pictures."""
