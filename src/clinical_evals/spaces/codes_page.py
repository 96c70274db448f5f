"""The Space of hier_icd_f1."""

from typing import Any

from clinical_evals.matching.protocols import PROTOCOLS
from clinical_evals.spaces.codes import LONGEST_ANSWER, ScoredAnswer, score_answer
from clinical_evals.spaces.page import KEPT_NOTE, NOTHING_YET, answering, heading, note, result, table

SYSTEMS = (
    ("ICD-10-CM: diagnoses", "icd10cm"),
    ("ICD-10-PCS: procedures", "icd10pcs"),
    ("LOINC: lab orders", "loinc"),
    ("ATC: drugs", "atc"),
)
EXAMPLES = (
    (
        "1. Type 2 diabetes mellitus without complications\n2. I10\n3. N18.4",
        "E11.9, I10, N18.30",
        "icd10cm",
        "standard",
    ),
    (
        "- heart failure that got worse over the week\n- Unspecified atrial fibrillation (I48.91)\n- pneumonia, right "
        "lower lobe",
        "I50.23, I48.91, J18.9, Z79.01",
        "icd10cm",
        "standard",
    ),
    ("Resection of Gallbladder, Percutaneous Endoscopic Approach (0FT44ZZ)", "0FT44ZZ", "icd10pcs", "standard"),
    ("1. Essential (primary) hypertension\n2. E11.99", "I10, E11.65", "icd10cm", "official"),
)
"""Invented answers with gold codes."""
_HOW = {
    "code": "given as a code",
    "title": "official title",
    "embedding": "most similar title",
    "invalid code": "no such code: wrong",
    "unmatched": "nothing similar: no prediction",
}
_INTRO = f"""# Hierarchical F1 of medical codes

Type what a model answered and the codes that were billed. Each line of the answer becomes a code, and at every level
of the code system the two sets of codes are compared: a near miss counts at the coarser levels.
The first free text in a system is slow, since its titles are read once. {KEPT_NOTE}"""


def make_page() -> Any:
    """The page, as gradio's Blocks."""
    import gradio as gr

    with gr.Blocks(title="Hierarchical F1 of medical codes", analytics_enabled=False) as demo:
        gr.Markdown(_INTRO)
        with gr.Row():
            with gr.Column():
                answer = gr.Textbox(label="Answer, in free text", lines=7, max_length=LONGEST_ANSWER)
                gold = gr.Textbox(label="Gold codes", info="separated by commas, blanks or line ends", lines=2)
                with gr.Row():
                    system = gr.Dropdown(list(SYSTEMS), value="icd10cm", label="Code system")
                    protocol = gr.Radio(
                        list(PROTOCOLS),
                        value="standard",
                        label="Protocol",
                        info="official: the released scorer's rules, flaws included",
                    )
                button = gr.Button("Score", variant="primary")
            with gr.Column():
                scores = gr.HTML(result(note(NOTHING_YET)), label="Scores")
        lines = gr.HTML(label="Lines")
        inputs = [answer, gold, system, protocol]
        gr.Examples([list(example) for example in EXAMPLES], inputs, label="Examples (invented)", cache_examples=False)
        button.click(answering(show_codes), inputs, [scores, lines], api_name="score")
    return demo


def show_codes(answer: str, gold: str, system: str, protocol: str) -> tuple[str, str]:
    """What the button shows, as HTML: the scores, and what became of every line.

    Raises:
        ClinicalEvalsError: see `codes.score_answer`.
    """
    return _as_html(score_answer(answer, gold, system, protocol))


def _as_html(scored: ScoredAnswer) -> tuple[str, str]:
    all_levels = len(scored.levels) - 1  # without the average
    levels = table(
        ("level", "precision", "recall", "F1", "predicted", "gold", "in both"),
        [
            (
                each.name,
                _percent(each.precision),
                _percent(each.recall),
                _percent(each.f1),
                each.predicted,
                each.gold,
                each.both,
            )
            for each in scored.levels
        ],
        numbers=("precision", "recall", "F1", "predicted", "gold", "in both"),
    )
    items = table(
        ("in the answer", "code", "title", "how", "similarity", "right at"),
        [
            (
                each.item or "(code alone)",
                each.code or "–",
                each.title,
                _HOW[each.how],
                _similarity(each.similarity),
                _at(each.right_at, each.code, all_levels),
            )
            for each in scored.items
        ],
        numbers=("similarity",),
        codes="code",
    )
    gold = table(
        ("code", "title", "found at"),
        [(each.code, each.title, _at(each.found_at, each.code, all_levels)) for each in scored.gold],
        codes="code",
    )
    beside = [heading("Scores by level, in percent"), levels] if scored.levels else []
    below = [heading("What each line became"), items] if scored.items else []
    return (
        "".join([*beside, note(scored.note), note(f"Codes of {scored.system}.")]),
        "".join([*below, heading("Gold codes"), gold]),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _similarity(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _at(levels: tuple[str, ...], code: str, all_levels: int) -> str:
    if not code:
        return ""
    return "all levels" if len(levels) == all_levels else ", ".join(levels) or "no level"
