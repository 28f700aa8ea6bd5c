# SPDX-License-Identifier: BSD-3-Clause
"""Who estimates what, and who shows what to whom."""
