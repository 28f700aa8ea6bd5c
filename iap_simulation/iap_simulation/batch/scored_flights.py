# SPDX-License-Identifier: BSD-3-Clause
"""Whole flights of many worlds, judged while they fly."""

import time
from typing import Any

from iap_io.runs.run_meta import COMPLETED, RunStats
from iap_physics.engines.engine import RUNNING
from iap_simulation.batch.worlds import Worlds
from iap_simulation.metrics.flight_scores import BatchScores, CollectedTracks


def score_worlds(worlds: Worlds) -> list[tuple[dict[str, Any], str]]:
    """Fly worlds from their start to the end of their references.

    Returns:
        Of each world its metrics, which are those of its single run, and the sentence for the user where the flight did
        not complete, else ""; seed and outcome alone of one that failed in its first control period.
    """
    began, last, runs = time.perf_counter(), worlds.timeline.last, worlds.metas
    tracks = CollectedTracks(len(worlds.flight.vehicles))
    worlds.flight.write_tracks(tracks)
    scores, plant = BatchScores(runs, tracks.tracks, last + 1), worlds.plant
    for k in range(last + 1):
        flies = worlds.status == RUNNING
        if not flies.any():
            break
        asked, command = worlds.control()
        assert command is not None  # noqa: S101 - of the controller
        t, references = k * plant.substeps * plant.dt, (asked.rows, asked.levels)
        scores.record(k, t, worlds.state, references, command, worlds.rpm, flies)
        if k < last:
            plant.advance()
    wall = (time.perf_counter() - began) / len(runs)
    failures = [worlds.failure(i) for i in range(len(runs))]
    stats = [
        RunStats(COMPLETED if why is None else why.outcome, worlds.ended(i), wall, 0.0)
        for i, why in enumerate(failures)
    ]
    metrics = scores.metrics(stats)
    for i, why in enumerate(failures):
        if why is not None and worlds.ended(i) == 0.0:  # before anything was flown
            metrics[i] = {"seed": int(worlds.seeds[i]), "outcome": why.outcome}
    sentences = ["" if why is None else str(why) for why in failures]
    return list(zip(metrics, sentences, strict=True))
