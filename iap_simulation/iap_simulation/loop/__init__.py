# SPDX-License-Identifier: BSD-3-Clause
"""The closed loop: plant, vehicles, and who commands and observes them."""
