# SPDX-License-Identifier: BSD-3-Clause
"""Thousands of damaged scenarios, settings, bags, runs, data sets and meshes: accepted, or refused in one line.

No traceback, none that hangs, none that takes 500 MB. `IAP_DAMAGED_CASES=100000` is a night's work; a case that failed
is `python tests/support/damaged_cases.py CORPUS NUMBER STOP 1` with the same corpus.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import damaged_cases
import pytest
from damaged_cases import MEMORY, SHARES, make_corpus
from hang import HANG

CASES = int(os.environ.get("IAP_DAMAGED_CASES", "1200"))
WORKERS = max(1, min(2, len(os.sched_getaffinity(0))))
PER_CASE = 1.0  # of wall time on a busy machine, with which a worker is late [s]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("corpus")
    make_corpus(home)
    return home


@pytest.mark.slow
def test_damaged_input_is_accepted_or_refused_in_one_line(corpus: Path) -> None:
    program = [sys.executable, "-P", damaged_cases.__file__, str(corpus)]
    path = os.pathsep.join([str(Path(damaged_cases.__file__).parent), *sys.path])
    workers = [
        subprocess.Popen(
            [*program, str(first), str(CASES), str(WORKERS)],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # libpng and others complain of what they cannot read
            text=True,
        )
        for first in range(WORKERS)
    ]
    said = []
    try:
        for worker in workers:
            out, _ = worker.communicate(timeout=HANG + PER_CASE * CASES)
            said += [json.loads(line) for line in out.splitlines()]
            assert worker.returncode == 0, f"a worker ended with {worker.returncode}"
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    counts: Counter[str] = sum(
        (Counter(each["counts"]) for each in said if "counts" in each), Counter()
    )
    peak = max(each["peak"] for each in said if "peak" in each)
    print(_table(counts, peak))  # noqa: T201 - with -s
    faults = [each for each in said if "fault" in each]
    assert not faults, "\n".join(map(str, faults[:20]))
    assert counts.total() == CASES
    assert peak < MEMORY
    # Damage that nothing survives, or that changes nothing, would show nothing.
    assert all(counts[f"{kind} {word}"] for kind in SHARES for word in ("accepted", "refused"))


def _table(counts: Counter[str], peak: int) -> str:
    lines = [f"{counts.total()} cases, at most {peak >> 20} MiB"]
    for kind in SHARES:
        own = {key.split()[1]: n for key, n in counts.items() if key.split()[0] == kind}
        lines.append(f"{kind:10}" + ", ".join(f"{n} {word}" for word, n in sorted(own.items())))
    return "\n".join(lines)
