# SPDX-License-Identifier: BSD-3-Clause
"""Reference motions: analytic ones, what leads into and out of them, and their rows on a time grid."""
