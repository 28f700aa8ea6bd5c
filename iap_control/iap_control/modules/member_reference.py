# SPDX-License-Identifier: BSD-3-Clause
r"""References of modules from that of their structure, after beatle (16), (23) and (26).

.. math::
    r_i = r_S + R\,d_i, \qquad v_i = v_S + R (\omega \times d_i), \qquad
    a_i = a_S + R (\alpha \times d_i + \omega \times (\omega \times d_i)),

with rates in body axes and d_i constant in them. Printed (23) has R r_S + d_i, which turns the place of the structure
about the world's origin; printed (17) has R = 0 where the identity is meant: all modules have the structure's attitude.
"""

from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import add, cross, put_at, quat_at, rotate, vec, vec_at


@njit(cache=True)
def put_member_row(row: Array, d_S: Array, out: Array) -> None:
    """Write the reference of a point that moves along with a structure; headings (19...) stay as they are in `out`.

    Args:
        row: (19+) reference of the structure's origin, or of any other point of it.
        d_S: (3,) from that one to this one [m].
        out: (19+) is overwritten up to the headings.
    """
    out[:19] = row[:19]
    q, w, d = quat_at(row, 3), vec_at(row, 10), vec(d_S)
    turning = cross(w, d)
    put_at(out, 0, add(vec_at(row, 0), rotate(q, d)))
    put_at(out, 7, add(vec_at(row, 7), rotate(q, turning)))
    bending = add(cross(vec_at(row, 16), d), cross(w, turning))
    put_at(out, 13, add(vec_at(row, 13), rotate(q, bending)))
