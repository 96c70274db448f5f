"""What an encoder must beat, learnt from the same rows: the most frequent department, and character n-grams."""

import warnings
from collections import Counter
from collections.abc import Sequence

NGRAMS = (1, 3)
"""Lengths of the runs of characters; Chinese has no spaces between words."""
C = 10.0
"""Of the logistic regression; larger is less regularised. Fixed beforehand, not searched."""
ITERATIONS = 1000


def name_most_frequent(departments: Sequence[str], rows: int) -> list[str]:
    """The most frequent department of the training rows for every row; of equally frequent ones the first by name.

    >>> name_most_frequent(["骨科", "儿科", "骨科"], 2)
    ['骨科', '骨科']
    """
    counts = Counter(departments)
    return [min(counts, key=lambda name: (-counts[name], name))] * rows


def name_by_ngrams(texts: Sequence[str], departments: Sequence[str], asked: Sequence[str]) -> list[str]:
    """Logistic regression on the TF-IDF of runs of one to three characters, both scikit-learn's.

    Args:
        texts: the training dialogues, whole.
        departments: of each.
        asked: the dialogues to name departments for, whole.
    """
    if len(set(departments)) == 1:  # a small subset may hold one only
        return [departments[0]] * len(asked)
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectors = TfidfVectorizer(analyzer="char", ngram_range=NGRAMS, sublinear_tf=True, lowercase=True)
    classifier = LogisticRegression(C=C, max_iter=ITERATIONS)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)  # departments are no numbers
        classifier.fit(vectors.fit_transform(texts), list(departments))
    return [str(name) for name in classifier.predict(vectors.transform(asked))]
