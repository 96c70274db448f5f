"""The ranker of a library: fitted once on texts with known codes, then kept in the cache."""

import hashlib
import json
import random
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical_evals.matching.encoder import Encoder, fastest_precision
from clinical_evals.matching.hybrid import ranker
from clinical_evals.matching.hybrid.abbreviations import written_out
from clinical_evals.matching.hybrid.choice import category_level, choose
from clinical_evals.matching.hybrid.evidence import Evidence, Library
from clinical_evals.matching.hybrid.ranker import FixedRanker, Ranker
from clinical_evals.matching.index_store import cache_folder
from clinical_evals.matching.pairs import Pair
from clinical_evals.matching.titles import fold
from clinical_evals.matching.trained_on import TrainedOn, trained_on
from clinical_evals.write_aside import written_aside

FORMAT = 4
"""Raised when features or fitting change."""
TEXTS = 2500
"""Texts that the ranker learns of; more gain nothing."""
OPEN_TITLES = 500
"""Titles without their "unspecified" that it learns of besides."""
HELD_OUT = 5
"""Every so many-th text is held out of a second fit, which says how often the ranker is right when it is sure."""
ENOUGH = 300
"""With fewer the weights are fixed ones."""


class Learnt(NamedTuple):
    """What a ranker learns of."""

    known: Sequence[Pair]
    """Texts with known codes, most of them entries: each is then looked for without its own entry."""
    common: Sequence[Pair]
    """Common names, likewise: they teach that the plain code is meant where nothing else is said."""
    open_titles: Mapping[str, str]
    """Titles without their "unspecified", with their codes."""


class _Lesson(NamedTuple):
    text: str
    """With its abbreviations written out."""
    codes: tuple[str, ...]
    left_out: int
    """The text's own entry; -1: it is none."""
    is_known: bool
    """Whether it is one of `Learnt.known`: the others are easier, and say nothing of how hard a text to come is."""


def ranker_for(
    library: Library, learnt: Learnt, encoder: Encoder, cache_dir: str | Path | None = None
) -> Ranker | FixedRanker:
    """A ranker for these entries.

    Texts on which the encoder itself was trained are not learnt of: they would look easier than any text to come.

    Args:
        library: the entries.
        learnt: texts with known codes.
        encoder: what embeds them.
        cache_dir: where the ranker is kept; by default `cache_folder()`.
    """
    lessons = _lessons(library, learnt, trained_on(encoder.folder))
    if len(lessons) < ENOUGH:
        return FixedRanker()
    file = Path(cache_dir or cache_folder()) / "ranker" / f"{_key(library, lessons, encoder)}.npz"
    if (kept := _read(file)) is not None:
        return kept
    fitted = _fit(library, lessons, encoder)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with written_aside(file) as aside:
            ranker.save(fitted, aside)
    except OSError as error:
        warnings.warn(f"The ranker cannot be kept in {file.parent} ({error}); it is used all the same.", stacklevel=2)
    return fitted


def _lessons(library: Library, learnt: Learnt, seen: TrainedOn) -> list[_Lesson]:
    first, system = library.entries.titles, library.entries.system.name
    own = {fold(text): place for place, text in enumerate(library.entries.texts[first:], first)}
    draw = random.Random(0)
    lessons: list[_Lesson] = []
    for pairs in (learnt.known, learnt.common):
        usable = [pair for pair in pairs if (text := fold(pair.text)) in own and text not in seen]
        chosen = draw.sample(usable, min(TEXTS, len(usable)))
        lessons += [
            _Lesson(written_out(pair.text, system), pair.codes, own[fold(pair.text)], pairs is learnt.known)
            for pair in chosen
        ]
    if len(lessons) >= ENOUGH:
        opened = draw.sample(sorted(learnt.open_titles.items()), min(OPEN_TITLES, len(learnt.open_titles)))
        lessons += [_Lesson(written_out(text, system), (code,), own.get(text, -1), False) for text, code in opened]
    return lessons


def _fit(library: Library, lessons: Sequence[_Lesson], encoder: Encoder) -> Ranker:
    long = [lesson.text for lesson in lessons]
    left_out = np.array([lesson.left_out for lesson in lessons], dtype=np.int64)
    vectors = encoder.encode(long, "Embedding what the matcher learns of", fastest_precision())
    evidence = library.evidence(long, vectors, left_out)
    right = _right(library, lessons, evidence)
    fitted = ranker.fit(evidence.rows, evidence.features, right)
    return fitted._replace(calibration=_calibration(library, lessons, evidence, right))


def _right(library: Library, lessons: Sequence[_Lesson], evidence: Evidence) -> NDArray[np.bool_]:
    """Whether each candidate stands for the same as one of the codes of its text (candidates, levels)."""
    place = {code: number for number, code in enumerate(library.entries.codes)}
    ancestors = library.entries.ancestors
    right = np.zeros((len(evidence.rows), ancestors.shape[1]), dtype=np.bool_)
    of_text = [ancestors[[place[code] for code in lesson.codes if code in place]] for lesson in lessons]
    for number, (row, code) in enumerate(zip(evidence.rows.tolist(), evidence.codes.tolist(), strict=True)):
        right[number] = (of_text[row] == ancestors[code]).any(axis=0)
    return right


def _calibration(
    library: Library, lessons: Sequence[_Lesson], evidence: Evidence, right: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Fitted on every fifth known text, with a ranker that learnt of the other texts."""
    is_told = np.array([lesson.is_known and number % HELD_OUT == 0 for number, lesson in enumerate(lessons)])
    told = is_told[evidence.rows]
    other = ranker.fit(evidence.rows[~told], evidence.features[~told], right[~told])
    part = Evidence(*(each[told] for each in evidence))
    chosen = choose(part, ranker.softmax_by_row(part.rows, other.scores(part.features)), library.entries)
    of_category = right[told][:, category_level(library.entries.levels)]
    candidates = zip(part.rows.tolist(), part.codes.tolist(), of_category.tolist(), strict=True)
    by_candidate = {(row, code): category for row, code, category in candidates}
    pairs = zip(np.unique(part.rows).tolist(), chosen.best.tolist(), strict=True)
    return ranker.calibrate(chosen.likely, chosen.similarity, np.array([by_candidate[pair] for pair in pairs]))


def _key(library: Library, lessons: Sequence[_Lesson], encoder: Encoder) -> str:
    content = hashlib.sha256(f"{FORMAT} {encoder.identity} {fastest_precision()}\n".encode())
    for text in library.entries.texts:
        content.update(text.encode("utf-8", "surrogatepass") + b"\n")
    content.update(json.dumps(lessons).encode())
    return content.hexdigest()[:24]


def _read(file: Path) -> Ranker | None:
    try:
        return ranker.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError) as error:
        warnings.warn(f"{file} is damaged ({type(error).__name__}: {error}). It is made again.", stacklevel=3)
        return None
