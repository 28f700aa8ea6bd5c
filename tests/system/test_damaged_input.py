# SPDX-License-Identifier: BSD-3-Clause
"""Input that `iap fuzz` damages, of scenarios, bags, runs, data sets and meshes, is accepted, or refused in one line.

Bags that other programs compressed, and stereo pairs of theirs, are added to its kinds of input.
`IAP_DAMAGED_CASES=100000` is a night's work.
"""

import os
import shutil
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest
from flight_bags import BagMaker, motion
from resting_pair import PairBag

from iap_bringup.cli.arguments.verbs import command_parser
from iap_bringup.cli.main import main
from iap_bringup.fuzz.corpus import Corpus
from iap_bringup.fuzz.inputs import make_case
from iap_bringup.fuzz.kind import FREE, FileKind
from iap_bringup.fuzz.made_recordings import resting
from iap_bringup.fuzz.trials import fault_of, run_command

CASES = int(os.environ.get("IAP_DAMAGED_CASES", "60"))
NAMES = ("scenario", "set", "platform", "recorded", "run", "euroc", "mesh")  # of `iap fuzz`
FOREIGN = {
    "packed": FileKind(1, ("packed_*",), (("replay", "@", "--out", "o", *FREE),)),
    "pair": FileKind(1, ("pair_*",), (("localize", "@", "--out", "o", "--json", "--no-plot"),)),
}
PACKED = (  # kind of bag, and what of it is compressed how
    ("ros1", "bz2"), ("ros1", "lz4"), ("mcap", "storage"), ("sqlite3", "message"), ("sqlite3", "file"),
)  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    home = tmp_path_factory.mktemp("corpus")
    for kind, part in PACKED:
        maker = BagMaker(home, kind)
        poses = maker.poses(motion(np.arange(0.0, 2.0, 0.02)))
        maker.write({"/reference": poses}, f"packed_{part}", part)
    for kind in ("ros1", "mcap"):
        path = PairBag(kind, compressed=kind == "mcap").write(home, resting(0.2))
        path.rename(home / f"pair_{path.name}")
    return Corpus(main, command_parser, home)


@pytest.mark.slow
def test_damaged_input_is_accepted_or_refused_in_one_line(corpus: Corpus, tmp_path: Path) -> None:
    counts, faults = Counter[tuple[str, int]](), list[str]()
    for number in range(CASES):
        rng, home = Random(f"case {number}"), tmp_path / "case"
        home.mkdir()
        name = rng.choice((*NAMES, *FOREIGN))
        if name in FOREIGN:
            arguments, _ = FOREIGN[name].draw(corpus, home, rng)
            out: Path | None = home / "o"
        else:
            _, (arguments, _), out = make_case(name, corpus, home, rng)
        ending = run_command(main, arguments, home)
        fault = fault_of(arguments, ending, out)
        if fault is not None:
            faults.append(f"case {number}: {' '.join(arguments)}: {fault}")
        counts[name, ending.code] += 1
        shutil.rmtree(home)
    assert not faults, "\n".join(faults[:20])
    # Damage that nothing survives, or that changes nothing, would show nothing.
    assert all(counts[name, 2] for name in (*NAMES, *FOREIGN)), counts
    assert sum(n for (_, code), n in counts.items() if code == 0) > CASES // 10, counts
