# SPDX-License-Identifier: BSD-3-Clause
"""Arms in flight: what their joints shall do, and what a platform's controller knows of them."""
