# SPDX-License-Identifier: BSD-3-Clause
"""The services of simulation_interfaces on a node, where that package is installed."""

from __future__ import annotations

from iap_io.ros.node import SuiteNode
from iap_physics.nodes.standard_services.entity_services import EntityServices
from iap_physics.nodes.standard_services.results import srv
from iap_physics.nodes.standard_services.time_services import Controls, TimeServices
from iap_physics.session.session import Session


def serve(
    node: SuiteNode, session: Session, controls: Controls
) -> tuple[TimeServices, EntityServices] | None:
    """Offer the services in the namespace of a node; None where the package is not installed."""
    if srv is None:
        return None
    return TimeServices(node, session, controls), EntityServices(node, session, controls)
