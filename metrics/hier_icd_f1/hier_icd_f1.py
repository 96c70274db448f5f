"""Precision, recall and F1 of medical codes at every level of their hierarchy; a thin face of clinical-evals."""

from functools import cache

import datasets
import evaluate

from clinical_evals.datasets_hub import code_metric
from clinical_evals.matching import matchers

_DESCRIPTION = """
Compares the diagnoses that a model names, in free text or as codes, with the ICD-10-CM codes of the admission, at the
levels chapter, block, category, subcategory and full code; or procedures with ICD-10-PCS codes, lab orders with LOINC
numbers, drugs with ATC codes, at the levels of these. At each level a code stands for its ancestor and the codes
of a row are a set; precision, recall and F1 are given over all rows (micro) and as the mean of the rows' F1 (macro).
An answer's text is first taken apart into items; codes are taken as they are, other items stand for the code whose
official title is equal or, by sentence embeddings, most similar. This is the metric of CliBench (arXiv 2406.09923).
"""

_CITATION = """
@article{ma2024clibench,
  title = {{CliBench}: A Multifaceted and Multigranular Evaluation of Large Language Models
           for Clinical Decision Making},
  author = {Ma, Mingyu Derek and others},
  journal = {arXiv preprint arXiv:2406.09923},
  year = {2024}
}
"""

_KWARGS_DESCRIPTION = r"""
Args:
    predictions (list of str, or list of list of str): one answer for each row. Either all are text (any layout:
        numbered, bulleted, JSON, one line), or all are lists of codes, in any usual spelling; one that does not exist
        is a wrong prediction.
    references (list of list of str): the gold codes of each row. A code that is not in the release is an error.
    system (str): the code system: "icd10cm" (default), "icd10pcs", "loinc" or "atc". The files of the last two are
        yours, see `clinical-evals resources list`.
    protocol (str): "standard", or "official" for the released scorer to the letter, to compare with published tables.
    dictionary (str, optional): with "official", the path of MIMIC's table that answers are matched to:
        d_icd_diagnoses.csv.gz, d_icd_procedures.csv.gz, d_labitems.csv.gz (references are then itemids) or
        prescriptions.csv.gz.
    matcher (str, optional): with "standard", what turns texts into codes: "papers" (default, what the protocol says:
        all-MiniLM-L6-v2 over the titles), "synonyms", "hybrid", the folder of a sentence-transformers model, or
        "hybrid:FOLDER". Numbers of different matchers are not to be compared.
    intervals (bool): add the 95 % interval of every score as NAME_low and NAME_high (bootstrap, 1,000 draws).
    groups (list, optional): the patient of each row, for the intervals: rows of one patient are drawn together.
    per_row (bool): add per_row, a list with one dict for each row.

Returns:
    dict of floats: precision_LEVEL, recall_LEVEL, f1_LEVEL and macro_f1_LEVEL (0 to 1) for LEVEL in the levels of the
    system (chapter, block, category, subcategory, full; section, body_system, operation, full; class, group, subgroup,
    full; level1 to level4, full) and average (the mean over them, for "atc" without full), and how the answers were
    understood: rows, items, share_code, share_title, share_embedding, share_unmatched (of the items, 0 to 1),
    invalid_codes, empty_answers; with "official" also rows_left_out and own_titles (1 where no dictionary was given).
    With per_row=True also per_row, in the order of the rows: dicts of precision_LEVEL, recall_LEVEL and f1_LEVEL of
    that row alone, predicted (its distinct codes, sorted), invalid (those of its codes that do not exist), items (how
    many were found in the answer) and scored: False, with None for scores, where "official" leaves the row out.

Examples:

    >>> import clinical_evals
    >>> import evaluate
    >>> metric = evaluate.load("hier_icd_f1")
    >>> answer = "1. Type 2 diabetes mellitus without complications\n2. I10"
    >>> metric.compute(predictions=[answer], references=[["E11.9", "I10"]])["f1_full"]
    1.0
    >>> scores = metric.compute(predictions=[["e119", "I50.9"]], references=[["E11.65", "I10"]])
    >>> scores["f1_category"], scores["f1_full"]
    (0.5, 0.0)
    >>> rows = metric.compute(predictions=["I10", ""], references=[["I10"], ["R55"]], per_row=True)["per_row"]
    >>> [(row["f1_full"], row["predicted"], row["items"]) for row in rows]
    [(1.0, ['I10'], 1), (0.0, [], 0)]
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class HierIcdF1(code_metric.CodeMetric):
    """Hierarchical F1 of medical codes."""

    def _info(self):
        codes = datasets.Sequence(datasets.Value("string"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=[
                datasets.Features({"predictions": datasets.Value("string"), "references": codes}),
                datasets.Features({"predictions": codes, "references": codes}),
            ],
            reference_urls=["https://arxiv.org/abs/2406.09923"],
        )

    def _compute(
        self,
        predictions,
        references,
        system="icd10cm",
        protocol="standard",
        dictionary=None,
        matcher="papers",
        intervals=False,
        groups=None,
        per_row=False,
    ):
        scored = _scorer(system, protocol, dictionary, matcher).score(predictions, references)
        return code_metric.flat_scores(scored, intervals, groups, per_row)


@cache
def _scorer(system, protocol, dictionary, matcher):
    return matchers.make_scorer(system, protocol, dictionary, matcher)
