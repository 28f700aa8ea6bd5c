# SPDX-License-Identifier: BSD-3-Clause
"""Commands of ``iap`` that learning brings."""
