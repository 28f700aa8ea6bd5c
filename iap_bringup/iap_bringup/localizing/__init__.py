# SPDX-License-Identifier: BSD-3-Clause
"""`iap localize`: data sets in, trajectories and their errors out."""
