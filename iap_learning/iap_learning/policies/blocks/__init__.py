# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of policies before their perceptron: what a policy makes of images and of the past."""
