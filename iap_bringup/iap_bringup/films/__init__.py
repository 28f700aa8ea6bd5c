# SPDX-License-Identifier: BSD-3-Clause
"""Films of recorded runs."""
