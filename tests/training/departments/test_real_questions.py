"""7,644 real questions of patients become rows to train on; what the doctor answered is never among them."""

import csv
from pathlib import Path

from clinical_evals.datasets_hub.build_ior_bench import Request, build_ior_bench
from clinical_evals.markers import PATIENT_MARKER
from clinical_evals.training.departments.cases import load_cases
from clinical_evals.training.departments.parts import check_parts, find_overlap, part_rows


def test_the_answers_are_never_read_and_repeated_questions_are_counted(questions: Path, tmp_path: Path) -> None:
    columns = {"department": "department", "question": "title+ask", "answer": "answer"}
    build_ior_bench(Request(questions, "static", columns, tmp_path))
    cases = load_cases(str(tmp_path))
    with questions.open(encoding="gb18030", newline="") as stream:
        answers = [row["answer"].strip() for row in csv.DictReader(stream)]
    assert (len(cases.rows), len(cases.candidates), cases.mark) == (7644, 11, PATIENT_MARKER)
    assert all(turn["role"] == "patient" for case in cases.rows for turn in case.turns)
    long = [(case, answer) for case, answer in zip(cases.rows, answers, strict=True) if len(answer) > 20]
    assert len(long) > 7000
    assert not [case.id for case, answer in long if answer in case.text]
    parts = part_rows([case.id for case in cases.rows])
    assert [len(part) for part in parts] == [5503, 612, 1529]
    check_parts(cases.rows, parts, [400])
    overlap = find_overlap(cases.rows, parts)
    assert overlap.unseen == {}
    assert 0 < len(overlap.repeated) < 378  # that many rows repeat an earlier one, wherever it is
