# SPDX-License-Identifier: BSD-3-Clause
"""Vectors of five numbers and their matrices, for the five axes across a line of joints."""

from iap_description.arrays import Array
from iap_description.math.kernels import Mat6, Six, choose, dot6, formula

Five = tuple[float, float, float, float, float]
Mat5 = tuple[Five, Five, Five, Five, Five]  # row by row


@formula
def transposed_mv6(A: Mat6, a: Six) -> Six:
    """Product A^T a."""
    return (
        dot6((A[0][0], A[1][0], A[2][0], A[3][0], A[4][0], A[5][0]), a),
        dot6((A[0][1], A[1][1], A[2][1], A[3][1], A[4][1], A[5][1]), a),
        dot6((A[0][2], A[1][2], A[2][2], A[3][2], A[4][2], A[5][2]), a),
        dot6((A[0][3], A[1][3], A[2][3], A[3][3], A[4][3], A[5][3]), a),
        dot6((A[0][4], A[1][4], A[2][4], A[3][4], A[4][4], A[5][4]), a),
        dot6((A[0][5], A[1][5], A[2][5], A[3][5], A[4][5], A[5][5]), a),
    )


@formula
def first_five(a: Six | Array) -> Five:
    """The first five of six or more numbers."""
    return (a[0], a[1], a[2], a[3], a[4])


@formula
def mat5(M: Array) -> Mat5:
    """The numbers of an array (5, 5)."""
    return (
        (M[0, 0], M[0, 1], M[0, 2], M[0, 3], M[0, 4]),
        (M[1, 0], M[1, 1], M[1, 2], M[1, 3], M[1, 4]),
        (M[2, 0], M[2, 1], M[2, 2], M[2, 3], M[2, 4]),
        (M[3, 0], M[3, 1], M[3, 2], M[3, 3], M[3, 4]),
        (M[4, 0], M[4, 1], M[4, 2], M[4, 3], M[4, 4]),
    )


@formula
def dot5(a: Five, b: Five) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4]


@formula
def mv5(M: Mat5, a: Five) -> Five:
    """Product M a."""
    return (dot5(M[0], a), dot5(M[1], a), dot5(M[2], a), dot5(M[3], a), dot5(M[4], a))


@formula
def add5(a: Five, b: Five) -> Five:
    """Sum."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4])


@formula
def sub5(a: Five, b: Five) -> Five:
    """Difference."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4])


@formula
def times5(a: Five, b: Five) -> Five:
    """Product of each number with its counterpart."""
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3], a[4] * b[4])


@formula
def select5(condition: bool, a: Five, b: Five) -> Five:
    """Either of two, number by number."""
    return (
        choose(condition, a[0], b[0]),
        choose(condition, a[1], b[1]),
        choose(condition, a[2], b[2]),
        choose(condition, a[3], b[3]),
        choose(condition, a[4], b[4]),
    )
