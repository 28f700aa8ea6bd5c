# SPDX-License-Identifier: BSD-3-Clause
"""The most likely trajectory of a whole recording, by gtsam; `graph` and `smoothing` alone import that."""
