# SPDX-License-Identifier: BSD-3-Clause
"""Services that answer later than their callback returns."""

from typing import Any

from rclpy.service import Service


class LateAnswer:
    """One answer of a service that is kept until it is known.

    rclpy sends at once what a callback returns, and asks a coroutine, its other way, without pause whether it is done.

    Args:
        service: it must be answered by rclpy's `Service.send_response`.
    """

    def __init__(self, service: Service) -> None:
        self._send, self._response, self._header = service.send_response, None, None
        service.send_response = self._on_return

    def keep(self, response: Any) -> Any:  # noqa: ANN401 - of any service
        """Keep a response, which the callback returns, until `give`."""
        self._response, self._header = response, None
        return response

    def give(self) -> None:
        """Send the response that is kept; one that its callback has yet to return goes out then."""
        response, header = self._response, self._header
        self._response = self._header = None
        if header is not None:
            self._send(response, header)

    def _on_return(self, response: Any, header: Any) -> None:  # noqa: ANN401
        if response is self._response:
            self._header = header
        else:
            self._send(response, header)
