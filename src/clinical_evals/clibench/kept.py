"""How much of the diagnosis prompts a context keeps (CliBench, appendix B.5 and Table 8)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from clinical_evals.clibench.prompts import RESERVED_OUTPUT, SYSTEM, user_text
from clinical_evals.clibench.segments import LONG, Row, Segments, render_segments
from clinical_evals.clibench.statistics import summarise_kept
from clinical_evals.clibench.statistics_tables import KeptRow, kept_row
from clinical_evals.ontology import CodeSystem
from clinical_evals.truncation import Measure, Room, fit_prompt


def kept_by_context(
    rows: Iterable[Row],
    contexts: Sequence[int],
    measure: Measure,
    render: Callable[[str, str], str],
    system: CodeSystem,
    name: str,
) -> list[KeptRow]:
    """Table 8's figures for some contexts, over the test split of diagnosis.

    Args:
        rows: of the dataset.
        contexts: tokens for prompt and answer together.
        measure: counts tokens.
        render: makes the final prompt of the texts of system and user.
        system: ICD-10-CM, for the titles of history diagnoses.
        name: whose tokens they are.

    Raises:
        InputError: what is never cut does not fit into a context; the row is named.
    """
    ratios: dict[int, list[float]] = {context: [] for context in contexts}
    for number, row in enumerate(rows):
        segments = render_segments(row, system)
        for context in contexts:
            ratios[context].append(_kept(segments, context, measure, render, f"row {number} of diagnosis"))
    return [kept_row(name, context, summarise_kept(kept)) for context, kept in ratios.items()]


def _kept(segments: Segments, context: int, measure: Measure, render: Callable[[str, str], str], where: str) -> float:
    def whole(cut: Any) -> str:
        return render(SYSTEM, user_text("diagnosis", cut))

    return fit_prompt(segments, LONG, whole, measure, Room(context, RESERVED_OUTPUT), where).kept_prompt
