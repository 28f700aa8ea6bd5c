# SPDX-License-Identifier: BSD-3-Clause
"""Workers of a sweep on many machines: the nodes of a Ray cluster. Ray is an extra."""

import logging
import os
import platform
import socket
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from iap_description.errors import BadInput, IapError
from iap_description.process.extras import missing
from iap_simulation.sweeps.process_pool import (
    MAX_RETRIES,
    QUEUED_PER_PROCESS,
    Done,
    FinishedWork,
    Work,
)
from iap_simulation.sweeps.study import source_fingerprint

TOKEN = "~/.ray/auth_token"  # by which machines of a cluster know each other
CURRENT = Path("/tmp/ray/ray_current_cluster")  # where Ray keeps the address of this machine's  # noqa: S108
ANSWER = 5.0  # for a head to answer [s]
LOCAL = "local"  # address of a cluster that is started here, for the sweep alone


class Versions(NamedTuple):
    """Versions that must be the same on every machine."""

    source: str
    python: str
    ray: str


class ClusterPool:
    """Processes on the machines of a Ray cluster; a `WorkPool`.

    Args:
        address: `LOCAL`; ``auto`` for the one that runs on this machine; or HOST:PORT of its head.

    Attributes:
        retried: pieces that were begun again because a process or a machine had died.

    Raises:
        BadInput: Ray is not installed, or no cluster answers.
    """

    def __init__(self, address: str) -> None:
        imported_ray()
        self._address = _own_cluster() if address == "auto" else address
        if self._address != LOCAL:
            _check_answers(self._address)
        self.retried = 0

    def map(
        self, do: Callable[[Work], Done], pieces: Iterable[Work]
    ) -> Generator[FinishedWork[Work, Done], None, None]:
        """See `WorkPool`.

        Raises:
            BadInput: the cluster is none of this suite, or a machine of it has other versions.
            IapError: processes died again and again at the same work.
        """
        ray = imported_ray()
        with _joined(ray, self._address):
            _check_versions(ray)
            yield from self._done(ray, do, iter(pieces))

    def _done(
        self,
        ray: Any,  # noqa: ANN401 - an extra has no types
        do: Callable[[Work], Done],
        left: Iterator[Work],
    ) -> Iterator[FinishedWork[Work, Done]]:
        remote = ray.remote(num_cpus=1, max_retries=0)(_call)
        running: dict[Any, tuple[Work, int]] = {}
        ahead = QUEUED_PER_PROCESS * max(1, int(ray.cluster_resources().get("CPU", 1)))
        while True:
            while len(running) < ahead:
                work = next(left, None)
                if work is None:
                    break
                running[remote.remote(do, work)] = (work, 0)
            if not running:
                return
            (ready,), _ = ray.wait(list(running), num_returns=1)
            work, deaths = running.pop(ready)
            try:
                result = ray.get(ready)
            except ray.exceptions.RayTaskError as error:
                raise error.as_instanceof_cause() from None
            except ray.exceptions.RayError as error:  # its process or machine has died
                if deaths == MAX_RETRIES:
                    text = f"processes died {deaths + 1} times at the same work: is the memory too small?"
                    raise IapError(text) from error
                self.retried += 1
                running[remote.remote(do, work)] = (work, deaths + 1)
            else:
                yield FinishedWork(work, result)


def imported_ray() -> Any:  # noqa: ANN401 - an extra has no types
    """Ray.

    Raises:
        BadInput: it is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault(
        "RAY_AUTH_MODE", "token"
    )  # else a driver joins without the token that heads ask for
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        raise missing("ray", "--cluster needs", "cluster") from error


def _call(do: Callable[[Work], Done], work: Work) -> Done:
    return do(work)


@contextmanager
def _joined(ray: Any, address: str) -> Iterator[None]:  # noqa: ANN401 - an extra has no types
    """Be a part of a cluster.

    Raises:
        BadInput: it does not answer, or has another Ray, Python or token.
    """
    quiet = {"include_dashboard": False} if address == LOCAL else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **quiet)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        reason = " ".join(str(error).split())
        raise BadInput(
            f"--cluster {address}: {reason} (its token must lie in {TOKEN} here, too)"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _own_cluster() -> str:
    """Address of the cluster that this machine is a part of.

    Raises:
        BadInput: of none.
    """
    if not CURRENT.is_file():
        raise BadInput("--cluster auto: this machine is a part of none; iap cluster starts one")
    return CURRENT.read_text(encoding="utf-8").strip()


def _check_answers(address: str) -> None:
    """Refuse at once an address at which nobody listens: Ray would try for minutes.

    Raises:
        BadInput: nobody does.
    """
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER).close()
    except (OSError, ValueError, OverflowError) as error:
        raise BadInput(
            f"--cluster {address}: no cluster answers there; iap cluster starts one"
        ) from error


def _check_versions(ray: Any) -> None:  # noqa: ANN401 - an extra has no types
    """Refuse machines that have other sources, another Python or another Ray than this one.

    Raises:
        BadInput: naming machine and difference.
    """
    local = versions()
    pinned = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    ask = ray.remote(num_cpus=0, max_retries=1)(versions)
    for node in ray.nodes():
        if not node["Alive"]:
            continue
        name = node["NodeManagerHostname"]
        try:
            found = ray.get(
                ask.options(scheduling_strategy=pinned(node["NodeID"], soft=False)).remote()
            )
        except ray.exceptions.RayTaskError as error:
            raise BadInput(
                f"cluster: {name} does not have the suite: start its part by iap cluster in a checkout"
            ) from error
        for what, here, there in zip(local._fields, local, found, strict=True):
            if here != there:
                raise BadInput(f"cluster: {name} has another {what}: {there}, not {here}")


def versions() -> Versions:
    """The versions of this machine."""
    ray = imported_ray()
    return Versions(source_fingerprint(), platform.python_version(), ray.__version__)
