"""How strongly a text states each department that it mentions: recommendations, refusals, conditions, asides.

A text is read once from left to right. Cues change what the mentions after them mean until the clause (refusals,
recommendations, history, concessions) or the sentence (conditions, reported speech) ends; words such as 但 or 目前 end
both.
Mentions joined by 、或 和 / are one group: what is said of one is said of all.

A department that is refused (不建议挂 X, X 不太合适) is no recommendation (protocol 1.2), also when it is the only one
named. One that is named under a condition of the patient's state (如果出现胸痛请去 X) counts only where nothing is
named without a condition: it is weaker than every unconditional mention that is more than an aside, and several of
them are several departments (如果发热请去 X，否则挂 Y: X, the first one stated, ambiguous; 否则 gives no rank). Within
them, what only the condition itself names (如果 X 检查正常，请去 Y) is weaker than its consequence. A refusal under a
condition says nothing of the department elsewhere.
Conditions of the consultation itself (如果方便, 如果只能选一个, 如需就诊, 如果是我) are courtesy. A double negation
(不是不能挂 X, 不能排除 X) neither refuses nor recommends. Probabilities beside two or more departments rank them.
"""

import re
from enum import IntEnum
from typing import NamedTuple

from clinical_evals.ior_bench import department_cues as cues
from clinical_evals.ior_bench.department_names import FOREIGN, MENTION, MarkedText
from clinical_evals.ior_bench.department_shares import has_shares, share_beside


class Strength(IntEnum):
    """What a text says of a department, from the weakest to the strongest."""

    REFUSED = 0
    EXCEPTED = 1
    """Refused under a condition: neither recommended nor taken back."""
    ASIDE = 2
    """Named beside the matter: a definition, the patient's wish, history, a question, the list of choices."""
    IN_CONDITION = 3
    """Named by the condition itself: 如果 X 没有好转."""
    CONDITIONAL = 4
    """The consequence of a condition: 如果疼痛持续，建议去 X."""
    NAMED = 5
    """Named as possible or fitting, without a recommendation."""
    ALTERNATIVE = 6
    """Beside another one: 也可以挂 X, 其次 X."""
    PERMITTED = 7
    """One that will do: 可以挂 X, X、Y 均可."""
    RECOMMENDED = 8
    FIRST_CHOICE = 9


class Statement(NamedTuple):
    """One mention and what is said of it."""

    candidate: int
    strength: Strength


def read_statements(marked: MarkedText) -> list[Statement]:
    """What a text says of each mention, in order; linear in the length of the text.

    Args:
        marked: a folded text with its mentions (`department_names.mark_mentions`).
    """
    reader = _Reader(marked)
    return _ranked_by_share(reader.read(), reader.shares)


_PREFIX_STRENGTH = {
    "first": Strength.FIRST_CHOICE,
    "advice": Strength.RECOMMENDED,
    "alternative": Strength.ALTERNATIVE,
    "permission": Strength.PERMITTED,
    "verb": Strength.RECOMMENDED,
    "possible": Strength.NAMED,
    "double": Strength.NAMED,
    "comparison": Strength.ASIDE,
    "refusal": Strength.REFUSED,
}
_MOST_BRACKETS = 50


class _Reader:
    def __init__(self, marked: MarkedText) -> None:
        self.text = marked.text
        self.candidates = iter(marked.candidates)
        self.statements: list[Statement] = []
        self.shares: dict[int, float] = {}
        """Statement → the probability written beside it."""
        self.has_shares = has_shares(self.text)
        self.listing = False
        self.brackets: list[tuple[str, bool, bool]] = []
        self.start_sentence()

    def start_sentence(self) -> None:
        self.condition = self.consequence_named = self.speech = self.quoted = self.all_refused = False
        self.first_of_sentence = len(self.statements)
        self.brackets.clear()
        self.start_clause()

    def start_clause(self) -> None:
        self.in_condition = False
        self.cue = ""
        self.cue_end = 0
        self.aside = self.whether = False
        self.named_since_refusal = True

    def read(self) -> list[Statement]:
        for match in cues.CUE.finditer(self.text):
            kind = match.lastgroup
            if kind == "mention":
                self.on_mention(match)
            elif kind in ("paragraph", "sentence", "clause", "open", "close", "quote"):
                self.on_punctuation(kind, match)
            elif kind in (
                "condition",
                "speech",
                "contrast",
                "now",
                "own",
                "view",
                "list",
                "history",
                "concession",
                "before",
                "included",
                "whether",
            ):
                self.on_scope(kind)
            elif kind:
                self.on_cue("advice" if kind == "advice2" else kind, match)
        return self.statements

    def on_punctuation(self, kind: str, match: re.Match[str]) -> None:
        if kind in ("paragraph", "sentence"):
            if match[0] == "?" or self.text[max(0, match.start() - 1) : match.start()] == "吗":
                self.weaken_sentence()
            self.listing = self.listing and match[0] == "\n"  # a list of choices may run over lines
            self.start_sentence()
        elif kind == "clause":
            # 不推荐任何科室，包括 X: what no name stood beside may be taken up again.
            self.all_refused = self.cue == "refusal" and not self.named_since_refusal
            self.start_clause()
        elif kind == "open" and len(self.brackets) < _MOST_BRACKETS:
            self.brackets.append((self.cue, self.condition, self.speech))
        elif kind == "close" and self.brackets:
            self.cue, self.condition, self.speech = self.brackets.pop()
        elif kind == "quote":
            self.speech = self.speech and not self.quoted
            self.quoted = not self.quoted

    def weaken_sentence(self) -> None:
        """A question proposes nothing."""
        for place in range(self.first_of_sentence, len(self.statements)):
            candidate, strength = self.statements[place]
            self.statements[place] = Statement(candidate, min(strength, Strength.ASIDE))

    def on_scope(self, kind: str) -> None:
        if kind == "condition":
            self.condition, self.consequence_named, self.in_condition = True, False, True
        elif kind == "speech":
            self.speech = True
        elif kind in ("contrast", "now"):
            self.condition = self.speech = self.aside = False
            # 不建议现在去 X is still a refusal; 不是胃病而是 X is none.
            if kind == "contrast" or self.cue != "refusal" or self.named_since_refusal:
                self.cue = ""
        elif kind == "own":
            self.speech = False
        elif kind == "view":
            self.speech, self.cue = False, self.cue or "advice"
        elif kind == "whether":
            self.whether = True
        elif kind == "included":
            self.cue = "refusal" if self.all_refused else self.cue
        elif kind == "list":
            self.listing = True
        elif kind == "before":
            self.end_spent_condition()
        else:
            self.aside = True

    def end_spent_condition(self) -> None:
        """What is advised in a later clause than the condition's consequence is unconditional."""
        if self.condition and self.consequence_named and self.cue == "":
            self.condition = False

    def on_cue(self, kind: str, match: re.Match[str]) -> None:
        if kind not in _PREFIX_STRENGTH:
            return
        if kind == "advice":
            self.end_spent_condition()
            self.whether = False
            self.speech = self.speech and not cues.OWN_ADVICE.match(self.text, match.start())
        # 建议…去, 不…去: the verb says no more than the cue before it.
        if (
            kind == "verb"
            and self.cue not in ("", "verb")
            and not (self.cue == "refusal" and self.named_since_refusal)
        ):
            return
        if kind == "possible" and self.cue in ("first", "advice", "alternative", "permission", "refusal"):
            return
        if self.cue and (kind == "permission" or match[0] in ("或", "或者")):
            return
        if kind == "refusal":
            self.named_since_refusal = False
        self.cue, self.cue_end = kind, match.end()

    def on_mention(self, match: re.Match[str]) -> None:
        strength = self.strength(match)
        if self.has_shares and MENTION in match[0] and (share := share_beside(self.text, match.start(), match.end())):
            self.shares[len(self.statements)] = share
        for _ in range(match[0].count(MENTION)):
            self.statements.append(Statement(next(self.candidates), strength))
        self.named_since_refusal = True
        if self.condition:
            self.consequence_named = True
        if self.cue == "comparison":
            self.cue = ""

    def strength(self, match: re.Match[str]) -> Strength:
        after = cues.AFTER.match(self.text, match.end())
        following = after[0] if after else ""
        if following.startswith(":") and (verdict := cues.VERDICT.match(self.text, match.end())):
            following = verdict[0]
        next_name = self.text[match.end() + len(following) :][:1] in (MENTION, FOREIGN)
        if (
            self.is_refused(match)
            or self.is_refused_after(following, next_name)
            or cues.NO_AFTER.match(self.text, match.end())
        ):
            return Strength.EXCEPTED if self.condition else Strength.REFUSED
        if self.speech or self.aside or self.listing or cues.DEFINED_AFTER.match(following):
            return Strength.ASIDE
        if self.cue == "comparison" or (next_name and cues.PART_OF.fullmatch(following)):
            return Strength.ASIDE
        if self.whether and not cues.DOES_AFTER.search(following):
            return Strength.ASIDE
        if self.condition:
            bare = self.in_condition and not self.cue and not cues.FITS_AFTER.search(following)
            return Strength.IN_CONDITION if bare else Strength.CONDITIONAL
        return max(self.strength_before(match), self.strength_after(match, following))

    def is_refused(self, match: re.Match[str]) -> bool:
        if cues.CROSSED_BEFORE.search(self.text, max(0, match.start() - 8), match.start()):
            return True
        return self.cue == "refusal" and (
            self.named_since_refusal or not cues.OVER.search(self.text, self.cue_end, match.start())
        )

    def is_refused_after(self, following: str, next_name: bool) -> bool:
        if self.cue == "advice" and cues.SPARED_AFTER.match(following):
            return False
        if self.all_refused and cues.NO_EXCEPTION_AFTER.search(following):
            return True
        return _refused_after(following, next_name)

    def strength_before(self, match: re.Match[str]) -> Strength:
        if self.cue == "verb" and match.start() - self.cue_end > cues.VERB_REACH:
            return Strength.NAMED
        return max(Strength.NAMED, _PREFIX_STRENGTH.get(self.cue, Strength.NAMED))

    def strength_after(self, match: re.Match[str], following: str) -> Strength:
        if cues.BEST_AFTER.search(following):
            return Strength.FIRST_CHOICE
        before = self.text[max(0, match.start() - 24) : match.start()]
        alone = cues.ALONE_BEFORE.search(before) and cues.ALONE_AFTER.match(self.text, match.end())
        if alone or cues.FITS_AFTER.search(following) or cues.YES_AFTER.match(self.text, match.end()):
            return Strength.RECOMMENDED
        if cues.DOES_AFTER.search(following):
            return Strength.PERMITTED
        return Strength.ALTERNATIVE if cues.SECOND_AFTER.search(following) else Strength.NAMED


def _ranked_by_share(statements: list[Statement], shares: dict[int, float]) -> list[Statement]:
    """骨科 10%, 皮肤科 85%: the most probable one is the first choice, the others stand beside it."""
    rated = {place: share for place, share in shares.items() if statements[place].strength >= Strength.NAMED}
    if len({statements[place].candidate for place in rated}) < 2:
        return statements
    best = max(rated, key=lambda place: (rated[place], -place))
    ranked = list(statements)
    for place in rated:
        strength = Strength.FIRST_CHOICE if place == best else Strength.ALTERNATIVE
        ranked[place] = Statement(statements[place].candidate, strength)
    return ranked


def _refused_after(following: str, next_name: bool) -> bool:
    """X 不太合适, X 就不用去了; not 挂 X 不用去 Y, where the words refuse the next name."""
    if cues.ADMITTED_AFTER.search(following):
        return False
    if cues.UNFIT_AFTER.search(following):
        return True
    unneeded = cues.UNNEEDED_AFTER.search(following)
    return unneeded is not None and not (next_name and cues.LEADS_ON.fullmatch(following, unneeded.end()))
