# SPDX-License-Identifier: BSD-3-Clause
r"""Effect of surfaces on a contact, in MuJoCo's terms.

MuJoCo's contact force along the normal, with penetration -r, its rate v and the acceleration a that the force itself
leaves, is (its documentation, "Computation", "Constraint model")

.. math::
    f = (a_{ref} - a) / R, \qquad a_{ref} = -b\,v - k\,r, \qquad R = (1 - d) / d\;\hat A.

A is an estimate of the inverse mass behind the contact; here it is 1/kg for all bodies, so that d says R itself. A
spring K with a damper B beside it, taken at the end of a step of length h (implicit, as PyBullet's is),
f = -K (r + h v') - B v' with v' = v + h a, is

.. math::
    1/R = h\,(h K + B), \qquad b = 1/h, \qquad k = K / (h\,(h K + B)),

and a rigid contact ends the motion within a step, and what overlaps in the course of some. A restitution e is
b = (1 + e) / h: the velocity after the step is then -e times the one before.
"""

import math
from dataclasses import dataclass
from typing import Self

from iap_description.geometry.shapes import Surface

INVERSE_MASS = 1.0  # A of every pair of bodies [1/kg]; R does not depend on it
RIGID = 0.1  # R of a rigid contact [1/kg]
RETURN = 0.1  # share of an overlap that a step takes away where contact is rigid
STIFFEST = 1e-4  # d is within [STIFFEST, 1 - STIFFEST], by MuJoCo


@dataclass(frozen=True)
class SurfaceContact:
    """Contact parameters of two surfaces.

    Attributes:
        friction: coefficient.
        restitution: share of the velocity that comes back.
        stiffness: of a contact point [N/m]; infinite where both are rigid.
        damping: of a contact point [N s/m].
    """

    friction: float
    restitution: float
    stiffness: float
    damping: float

    @classmethod
    def of(cls, a: Surface, b: Surface) -> Self:
        """Contact of two surfaces: mu = sqrt(mu_a mu_b), e = sqrt(e_a e_b), 1/k = 1/k_a + 1/k_b, d = d_a + d_b.

        Stiffness k [N/m] is infinite where both are rigid; damping d is in N s/m.
        """
        soft = [each for each in (a, b) if each.stiffness is not None]
        compliance = sum(1.0 / each.stiffness for each in soft if each.stiffness is not None)
        return cls(
            math.sqrt(a.friction * b.friction),
            math.sqrt(a.restitution * b.restitution),
            1.0 / compliance if compliance else math.inf,
            sum(each.damping or 0.0 for each in soft),
        )

    def solver(self, dt: float, rigid: float = RIGID) -> tuple[tuple[float, float], float]:
        """MuJoCo's `solref` (-k d, -b d) and d for steps of `dt` [s]; `rigid` is R [1/kg] where nothing is soft."""
        b = (1.0 + self.restitution) / dt
        if math.isinf(self.stiffness):
            R, k = rigid, RETURN / dt**2
        else:
            damper = dt * self.stiffness + self.damping
            R, k = 1.0 / (dt * damper), self.stiffness / (dt * damper)
        d = min(max(INVERSE_MASS / (INVERSE_MASS + R), STIFFEST), 1.0 - STIFFEST)
        return (-k * d, -b * d), d


BOND = SurfaceContact(0.0, 0.0, math.inf, 0.0)  # of joints that are added in flight
BOND_R = 1e-4  # [1/kg]
