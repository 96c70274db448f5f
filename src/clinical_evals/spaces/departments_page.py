"""The Space of department_accuracy."""

from typing import Any

from clinical_evals.matching.protocols import PROTOCOLS
from clinical_evals.spaces.departments import LONGEST_ANSWER, ReadReferral, read_referral
from clinical_evals.spaces.page import KEPT_NOTE, NOTHING_YET, answering, box, heading, note, result, table

_LIST = "外科\n小儿外科\n消化内科\n儿科\n皮肤科"
EXAMPLES = (
    ("孩子右下腹疼了一天，伴有低烧，建议先挂小儿外科，排除阑尾炎。", _LIST, "小儿外科", "standard"),
    ("孩子右下腹疼了一天，伴有低烧，建议先挂小儿外科，排除阑尾炎。", _LIST, "小儿外科", "official"),
    ("反酸、烧心考虑消化内科；如果皮疹加重，也可以看皮肤科。", _LIST, "消化内科", "standard"),
    ("请多喝水，注意休息。", _LIST, "儿科", "standard"),
)
"""Invented answers with a list of departments and the right one."""
_INTRO = f"""# Department accuracy

Type what a model answered, the departments that it could choose from, and the right one: you see what was read from
the answer, and whether it counts. {KEPT_NOTE}"""


def make_page() -> Any:
    """The page, as gradio's Blocks."""
    import gradio as gr

    with gr.Blocks(title="Department accuracy", analytics_enabled=False) as demo:
        gr.Markdown(_INTRO)
        with gr.Row():
            with gr.Column():
                answer = gr.Textbox(label="Answer, in free text", lines=5, max_length=LONGEST_ANSWER)
                departments = gr.Textbox(
                    label="Departments to choose from", info="one a line, or separated by commas", lines=5
                )
                gold = gr.Textbox(label="The right department")
                protocol = gr.Radio(
                    list(PROTOCOLS),
                    value="standard",
                    label="Protocol",
                    info="official: the released scorer's rule, which takes the first name of the list that occurs",
                )
                button = gr.Button("Score", variant="primary")
            with gr.Column():
                verdict = gr.HTML(result(note(NOTHING_YET)), label="Verdict")
        read = gr.HTML(label="What was read")
        inputs = [answer, departments, gold, protocol]
        gr.Examples([list(example) for example in EXAMPLES], inputs, label="Examples (invented)", cache_examples=False)
        button.click(answering(show_referral), inputs, [verdict, read], api_name="score")
    return demo


def show_referral(answer: str, departments: str, gold: str, protocol: str) -> tuple[str, str]:
    """What the button shows, as HTML: the verdict, and what was read.

    Raises:
        ClinicalEvalsError: see `departments.read_referral`.
    """
    return _as_html(read_referral(answer, departments, gold, protocol), protocol)


def _as_html(read: ReadReferral, protocol: str) -> tuple[str, str]:
    verdict = f"Read: {read.predicted or 'no department'}. {'Right' if read.right else 'Wrong'}: gold is {read.gold}."
    notes = []
    if read.others:
        notes.append(f"Also recommended: {', '.join(read.others)}. The one put first counts; the answer is ambiguous.")
    if read.predicted is None:
        notes.append("An answer that names no department of the list is wrong, and counted as no answer.")
    if read.not_offered:
        notes.append("The gold department is not in the list; the official protocol scores such rows all the same.")
    rows = [
        (each.name, _yes(each.in_text), _yes(each.recommended), _yes(each.counts), _yes(each.is_gold))
        for each in read.candidates
    ]
    columns = ("department", "named in the answer", "recommended", "counts", "gold")
    beside = box(verdict, "right" if read.right else "wrong") + note(" ".join(notes))
    return beside, heading(f"What was read ({protocol} protocol)") + table(columns, rows)


def _yes(value: bool) -> str:
    return "yes" if value else ""
