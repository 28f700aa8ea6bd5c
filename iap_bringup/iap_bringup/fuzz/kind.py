# SPDX-License-Identifier: BSD-3-Clause
"""A kind of input: how a case of it is drawn, and the kinds that begin with sound files of which one is damaged."""

from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

from iap_bringup.fuzz.corpus import DURATION, Corpus
from iap_bringup.fuzz.file_damage import damage
from iap_bringup.fuzz.trials import UNDISTURBED, Circumstances

FLIGHT = ("--no-plot", "--no-view", "--json", "--duration", str(DURATION))
FREE = (*FLIGHT, "--engine", "closed_form")
EPISODE = ("--episodes", "1", "--no-plot", "--no-record", "--json")
PLACE = "@"  # of the damaged copy among arguments


class CommandLine(NamedTuple):
    """A command line.

    Attributes:
        arguments: of ``iap``.
        circumstances: what happens to it.
    """

    arguments: list[str]
    circumstances: Circumstances = UNDISTURBED


class Kind(Protocol):
    """Protocol of a kind of damaged input."""

    @property
    def share(self) -> int:
        """Weight among all kinds."""

    @property
    def verbs(self) -> frozenset[str]:
        """Commands of ``iap`` that it reaches."""

    def draw(self, corpus: Corpus, home: Path, rng: Random) -> CommandLine:
        """A command, whose input lies in an empty folder."""


class FileKind(NamedTuple):
    """Sound files or folders, of which one file is damaged.

    Attributes:
        share: weight among all kinds.
        sources: patterns of sound files or folders, of which a case takes one.
        commands: arguments of ``iap``, of which a case takes one; `PLACE` stands for the damaged copy.
        beside: other files of the corpus that the command reads.
        only: ends of the names of the files that are damaged in a folder.
        in_a_fork: whether a sound command may not run in the process that all others are forked from.
    """

    share: int
    sources: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    beside: tuple[str, ...] = ()
    only: tuple[str, ...] = ("",)
    in_a_fork: bool = False

    @property
    def verbs(self) -> frozenset[str]:
        """Commands of ``iap``."""
        return frozenset(each[0] for each in self.commands)

    def draw(self, corpus: Corpus, home: Path, rng: Random) -> CommandLine:
        """A command whose input has one damaged file."""
        candidates = [path for pattern in self.sources for path in corpus[pattern]]
        source = rng.choice(candidates)
        beside = [corpus[each][0] for each in self.beside]
        arguments = [each.replace(PLACE, source.name) for each in rng.choice(self.commands)]
        if not self.in_a_fork:
            corpus.load(arguments, [*beside, source])
        for each in beside:
            corpus.copied(each, home)
        damage(rng.choice(self._files(corpus.copied(source, home))), rng)
        return CommandLine(arguments)

    def _files(self, copy: Path) -> list[Path]:
        entries = sorted(copy.rglob("*")) if copy.is_dir() else [copy]
        return [each for each in entries if each.is_file() and each.name.endswith(self.only)]
