"""Accuracy of outpatient referrals to one department each; a thin face of clinical-evals."""

import datasets
import evaluate

from clinical_evals.datasets_hub import department_metric
from clinical_evals.ior_bench import scorer

_DESCRIPTION = """
Finds the hospital department that an answer refers the patient to, in a reasoned text as well as in a bare name, and
compares it with the gold department. An answer that names no department is wrong, and counted; one that recommends
several stands for the first, and is counted as ambiguous. This is the metric of IOR-Bench (arXiv 2503.08292), made for
Chinese department names, some of which contain each other.
"""

_CITATION = """
@article{liu2025ior,
  title = {Can {LLMs} perform Outpatient Referral? {A} Static and Dynamic Analysis},
  author = {Liu, Xiaoxiao and others},
  journal = {arXiv preprint arXiv:2503.08292},
  year = {2025}
}
"""

_KWARGS_DESCRIPTION = r"""
Args:
    predictions (list of str): one answer for each row, as the model gave it. "" is an answer that names no department.
    references (list of str): the gold department of each row, spelled as in its list of departments.
    departments (list of str, or list of list of str): the departments to choose from: one list for all rows, or one
        list for each row. Their order counts under "official" only.
    protocol (str): "standard", or "official" for the released scorer to the letter, to compare with published tables:
        the first department of the list that occurs anywhere in the answer, right if it contains the gold name.
    per_row (bool): add per_row, a list with one dict for each row.

Returns:
    dict: accuracy with its 95 % interval accuracy_low and accuracy_high (bootstrap over rows, 1,000 draws; Wilson's
    where all rows are right or all wrong), no_answer_rate and ambiguous_rate (shares of all rows, 0 to 1), macro_f1
    (mean F1 of the departments that occur as gold or as predicted, 0 to 1) and rows, all floats; by_department, a dict
    for each of these departments with accuracy (None where it has no rows), f1, right, rows, no_answer (its rows
    without a department) and predicted (rows referred to it); confusion, a list of [gold, predicted or None, rows],
    the wrong rows counted by pair, the most frequent first. With "official" there is no ambiguous_rate, since the rule
    knows no such thing, but not_offered: the rows whose gold department is not among their departments, which is an
    error with "standard". With per_row=True also per_row, in the order of the rows: dicts of predicted (None: no
    department), right, ambiguous (None with "official") and mentions (the departments recommended, in their order).

Examples:

    >>> import clinical_evals
    >>> import evaluate
    >>> metric = evaluate.load("department_accuracy")
    >>> departments = ["外科", "小儿外科", "消化内科"]
    >>> answers = ["建议您挂小儿外科。", "消化内科", "请您先休息几天。"]
    >>> gold = ["小儿外科", "外科", "消化内科"]
    >>> scores = metric.compute(predictions=answers, references=gold, departments=departments)
    >>> round(scores["accuracy"], 3), round(scores["no_answer_rate"], 3)
    (0.333, 0.333)
    >>> scores["confusion"]
    [['外科', '消化内科', 1], ['消化内科', None, 1]]
    >>> scores = metric.compute(predictions=answers, references=gold, departments=departments, protocol="official")
    >>> scores["accuracy"]  # it finds 外科 in 小儿外科 first
    0.0
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class DepartmentAccuracy(department_metric.DepartmentMetric):
    """Accuracy of referrals to departments."""

    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Value("string")}
            ),
            reference_urls=["https://arxiv.org/abs/2503.08292"],
        )

    def _compute(self, predictions, references, departments=None, protocol="standard", per_row=False):
        scored = scorer.score_answers(predictions, references, departments, protocol)
        return department_metric.result_of(scored, per_row)
