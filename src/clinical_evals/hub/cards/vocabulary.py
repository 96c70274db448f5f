"""The words that the Hub knows: licences, languages, classes of size, kinds of task. Others are refused.

Source: the Hub's documentation of repository cards (licences; dataset card metadata); ISO 639-1 for languages.
"""

from clinical_evals.errors import UnknownNameError


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LICENCES = _words("""
afl-3.0 agpl-3.0 apache-2.0 apple-amlr apple-ascl artistic-2.0 bigcode-openrail-m bigscience-bloom-rail-1.0
bigscience-openrail-m bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 c-uda cc cc-by-2.0 cc-by-2.5 cc-by-3.0
cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0
cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0 cdla-permissive-2.0
cdla-sharing-1.0 creativeml-openrail-m deepfloyd-if-license ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1 eupl-1.2
fair-noncommercial-research-license gemma gfdl gpl gpl-2.0 gpl-3.0 h-research isc intel-research lgpl lgpl-2.1
lgpl-3.0 lgpl-lr llama2 llama3 llama3.1 llama3.2 llama3.3 llama4 lppl-1.3c mit mpl-2.0 ms-pl ncsa odbl odc-by ofl-1.1
open-mdw openrail openrail++ osl-3.0 other pddl postgresql unknown unlicense wtfpl zlib
""")
"""What a card may have under `license`; `other` asks for `license_name`."""

LANGUAGES = _words("""
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo
es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg
ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn
no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta
te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
""")
"""ISO 639-1."""

TASK_CATEGORIES = _words("""
text-classification token-classification table-question-answering question-answering zero-shot-classification
translation summarization feature-extraction text-generation fill-mask sentence-similarity text-ranking
tabular-classification tabular-regression tabular-to-text multiple-choice other
""")
"""Those of text and tables."""

_SIZES = (
    (10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"), (10**9, "100M<n<1B"), (10**10, "1B<n<10B"), (10**11, "10B<n<100B"),
    (10**12, "100B<n<1T"),
)  # fmt: skip


def check_licence(name: str) -> str:
    """The licence, where the Hub knows it.

    Raises:
        UnknownNameError: it does not; the nearest ones are named.
    """
    return _known("licence", name, LICENCES, "One that the Hub does not list is `other` with a name of its own.")


def check_language(code: str) -> str:
    """The language, where it is a code of ISO 639-1.

    Raises:
        UnknownNameError: it is none.
    """
    return _known("language", code, LANGUAGES, "Languages are codes of ISO 639-1, such as en or zh.")


def check_task_category(name: str) -> str:
    """The kind of task, where the Hub knows it.

    Raises:
        UnknownNameError: it does not.
    """
    return _known("task category", name, TASK_CATEGORIES, "")


def size_category(rows: int) -> str:
    """The class of size of a dataset.

    >>> size_category(999), size_category(1000), size_category(10**12)
    ('n<1K', '1K<n<10K', 'n>1T')

    Args:
        rows: of all splits; configs that hold the same rows count once.
    """
    return next((name for below, name in _SIZES if rows < below), "n>1T")


def _known(kind: str, name: str, known: frozenset[str], hint: str) -> str:
    if name not in known:
        raise UnknownNameError(kind, name, known, hint)
    return name
