# SPDX-License-Identifier: BSD-3-Clause
"""Arms in flight: motions of their joints, and what a platform's controller knows of them."""
