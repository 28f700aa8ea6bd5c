# SPDX-License-Identifier: BSD-3-Clause
"""Commands of ./iap that train and judge policies."""
