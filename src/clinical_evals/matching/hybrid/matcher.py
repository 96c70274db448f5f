"""The hybrid matcher: words, spelling and meaning weighed together by what texts with known codes teach.

text → abbreviations written out → a name that means one code (`Knowledge.names`), else
     → candidates by vectors and by shared words (`evidence`) → probabilities (`ranker`)
     → the code that is right at most levels on average (`choice`) → no more than the text says (`specificity`)
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from clinical_evals.matching.encoder import Encoder, default_encoder
from clinical_evals.matching.hybrid.abbreviations import written_out
from clinical_evals.matching.hybrid.conventions import with_type_of_diabetes
from clinical_evals.matching.hybrid.knowledge import Knowledge
from clinical_evals.matching.hybrid.several import bare, head_of, is_absent, parts_of, stacked
from clinical_evals.matching.hybrid.specificity import Specificity
from clinical_evals.matching.hybrid.words import spelled
from clinical_evals.matching.matcher import DEFAULT_THRESHOLD, Match, check_texts
from clinical_evals.matching.pairs import Pair
from clinical_evals.matching.titles import fold
from clinical_evals.ontology import CodeSystem

DEFAULT_CONFIDENCE = 0.2
"""How sure the category must be for a text to be matched; `docs/matching.md` has the table it was chosen with."""
SURE = 0.9
"""Confidence from which the whole text stands, though a name is equal to what stands before its remark."""
SPLIT_GAIN = 0.1
"""By how much the least sure part of a text must be surer than the whole, for the text to name several diseases."""


class HybridMatcher:
    """Matches texts to the codes of one system by everything that speaks for a code.

    Everything is local and deterministic on one machine. Nothing is loaded before a text needs it; the first use
    embeds titles and further names (minutes) and fits the ranker (seconds), and keeps both in the cache.

    Args:
        system: whose codes are found.
        encoder: the embedding model, or what finds it once it is needed.
        threshold: cosine similarity that a text must have with a name of its code; below it, it stays unmatched.
        confidence: how sure the category must be, 0-1; below it a text stays unmatched.
        cache_dir: where index and ranker are kept; by default `cache_folder()`.
        known: texts with known codes, which become entries and of which the ranker learns; by default the release's
            own further names (`pairs.known_pairs`).
        hidden: folded texts that must not become entries, nor be learnt from: what is held out.
        billable: whether a heading is brought down to its "unspecified" code; a benchmark whose right answers are
            headings too leaves it where it is.
    """

    def __init__(
        self,
        system: CodeSystem,
        encoder: Encoder | Callable[[], Encoder] = default_encoder,
        *,
        threshold: float = DEFAULT_THRESHOLD,
        confidence: float = DEFAULT_CONFIDENCE,
        cache_dir: str | Path | None = None,
        known: Sequence[Pair] | None = None,
        hidden: frozenset[str] = frozenset(),
        billable: bool = True,
    ) -> None:
        self.system = system
        self.threshold, self.confidence = threshold, confidence
        self.knowledge = Knowledge(system, encoder, cache_dir, known, hidden)
        self._billable = billable
        self._specificity = Specificity(system)

    @property
    def candidates_text(self) -> str:
        """What texts are matched to, for results."""
        model = self.knowledge.encoder.label
        return f"titles and further names of {self.system.name} {self.system.release}, hybrid, {model}"

    def match(self, texts: Sequence[str]) -> list[Match | None]:
        """The match of each text as a whole, None where nothing is sure enough or the text says that it is absent."""
        return [found[0] if found else None for found in self._matches(texts, cut=False)]

    def matches(self, texts: Sequence[str]) -> list[tuple[Match, ...]]:
        """The matches of each text: several where it names several diseases, none where nothing is sure enough."""
        return self._matches(texts, cut=True)

    def _matches(self, texts: Sequence[str], cut: bool) -> list[tuple[Match, ...]]:
        check_texts(texts)
        # By the text as it is written: its capitals tell an abbreviation from a word ("ALL", "all").
        plain = [bare(_clean(text)).strip() for text in texts]
        heads = {text: head_of(text) for text in plain}
        cuts = {text: self._parts_of(text) if cut else () for text in plain}
        asked = dict.fromkeys([*plain, *heads.values(), *(part for parts in cuts.values() for part in parts)])
        found = dict(zip(asked, self._found(list(asked)), strict=True))
        return [self._of_text(found[text], found[heads[text]], [found[part] for part in cuts[text]]) for text in plain]

    def _parts_of(self, text: str) -> tuple[str, ...]:
        """What may be several diseases; of "X on Y" only where X is the name of one ("acute on chronic" is not)."""
        if parts := parts_of(text):
            return parts
        parts = stacked(text)
        if not parts:
            return ()
        spellings = {fold(parts[0]), fold(written_out(parts[0], self.system.name))}
        return parts if spellings & self.knowledge.names.keys() else ()

    def _of_text(self, whole: Match | None, head: Match | None, parts: Sequence[Match | None]) -> tuple[Match, ...]:
        """The whole, what stands before a remark, or the parts where each is surer and they are different things."""
        if whole and whole.how == "title":
            return (whole,)
        sure = _confidence(whole)
        if head and head.how == "title" and sure < SURE:
            whole = head
        named = [part for part in parts if part]
        if parts and len(named) == len(parts):
            least = min(map(_confidence, named))
            if len(self._different(named)) > 1 and (
                least >= min(sure + SPLIT_GAIN, SURE) or whole is head is not None
            ):
                return self._different(named)
        return (whole,) if whole else ()

    def _different(self, matches: Sequence[Match]) -> tuple[Match, ...]:
        """Matches of different codes, none of which stands above another: that would be one thing said twice."""
        codes = dict.fromkeys(match.code for match in matches)
        above = {ancestor for code in codes for ancestor in self.system.path(code) if ancestor != code}
        by_code = {match.code: match for match in reversed(matches)}
        return tuple(by_code[code] for code in codes if code not in above)

    def _found(self, texts: Sequence[str]) -> list[Match | None]:
        """The match of each of these distinct texts."""
        names = self.knowledge.names
        long = [spelled(written_out(text, self.system.name), self.knowledge.words) for text in texts]
        found: dict[int, Match] = {}
        unknown = []
        for place, (text, written) in enumerate(zip(texts, long, strict=True)):
            common = written.replace("malignant neoplasm", "cancer")  # "Ca": titles have the one, names the other
            if code := names.get(fold(text)) or names.get(fold(written)) or names.get(fold(common)):
                found[place] = Match(self._settled(code, written), "title", 1.0, 1.0)
            elif fold(text) and not is_absent(text):
                unknown.append(place)
        meant = [with_type_of_diabetes(long[place], self.system.name) for place in unknown]
        for place, text, best in zip(unknown, meant, self.knowledge.best(meant), strict=True):
            if best.similarity >= self.threshold and _confidence(best) >= self.confidence:
                found[place] = best._replace(code=self._settled(best.code, text))
        return [found.get(place) for place in range(len(texts))]

    def _settled(self, code: str, text: str) -> str:
        return self._specificity.settle(code, text) if self._billable else self._specificity.up(code, text)


def _clean(text: str) -> str:
    """Without lone surrogates, which are no Unicode text."""
    return text.encode("utf-8", "replace").decode()


def _confidence(match: Match | None) -> float:
    return (match.confidence or 0.0) if match else 0.0
