# SPDX-License-Identifier: BSD-3-Clause
"""Physics engines behind one protocol."""
