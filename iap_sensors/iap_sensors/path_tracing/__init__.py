# SPDX-License-Identifier: BSD-3-Clause
"""The path tracer: a scene as plain arrays, Mitsuba in a child process, and what a camera makes of its light."""
