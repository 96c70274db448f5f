"""Synthetic discharge notes, in the layout of MIMIC-IV-Note, from the tables of the open demo.

Chief complaint and history say in plain words what the diagnoses of the stay look like on arrival, the past history
comes from earlier stays and lasting conditions, home drugs from the stay before. What is known only later (hospital
course, procedures, results, discharge sections) holds the billing titles, procedures and later drugs: a filter that
lets one of these sections through is seen at once. No sentence is taken from a real note.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

from clinical_evals.clibench.demo_note_lists import (
    LONGEST_LIST,
    by_name,
    distinct,
    drugs_at_home,
    first_of_each,
    numbered,
    order_line,
    result_lines,
)
from clinical_evals.clibench.demo_note_styles import STYLES, lay_out
from clinical_evals.clibench.demo_stay import Drug, Stay
from clinical_evals.clibench.demo_words import Speech, condition_of, procedure_words, words

LABEL = "[Synthetic note: clinical-evals, from the MIMIC-IV demo; no real note]"
"""The last line of each note: below the follow-up instructions, so that no record at admission holds it."""

SERVICES = {
    "MED": "MEDICINE", "CMED": "CARDIOLOGY", "SURG": "SURGERY", "OMED": "ONCOLOGY", "CSURG": "CARDIOTHORACIC",
    "NSURG": "NEUROSURGERY", "VSURG": "VASCULAR SURGERY", "NMED": "NEUROLOGY", "TRAUM": "SURGERY",
    "ORTHO": "ORTHOPAEDICS", "PSYCH": "PSYCHIATRY", "TSURG": "THORACIC SURGERY", "GYN": "OBSTETRICS/GYNECOLOGY",
}  # fmt: skip
_DAY = timedelta(days=1)
_TOP, _RESULTS = 4, 45


class Note(NamedTuple):
    """A text and when it was charted."""

    charttime: datetime
    storetime: datetime
    text: str


def discharge_note(stay: Stay, earlier: Sequence[Stay], seed: int) -> Note:
    """The note of a stay.

    Args:
        stay: the admission.
        earlier: the patient's stays before it, the earliest first.
        seed: another seed gives other words and another style; the same one the same note.
    """
    random = Random(f"{seed} discharge {stay.hadm_id}")
    writer = _Writer(stay, earlier, random)
    style = random.choice(STYLES)
    charted = datetime(stay.discharged.year, stay.discharged.month, stay.discharged.day)
    stored = stay.discharged + timedelta(minutes=random.randrange(60, 4 * 24 * 60))
    return Note(charted, stored, lay_out(style, stay.gender, dict(writer.sections()), LABEL))


class _Writer:
    def __init__(self, stay: Stay, earlier: Sequence[Stay], random: Random) -> None:
        self.stay, self.earlier, self.random = stay, earlier, random
        self.speech = Speech(stay, random)
        known = [(diagnosis, condition_of(diagnosis)) for diagnosis in stay.diagnoses]
        self.conditions = [(diagnosis, condition) for diagnosis, condition in known if condition.short]
        self.told = distinct([condition for _, condition in self.conditions if condition.complaint])[:_TOP]

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """The lines of each section, by name."""
        yield "service", [SERVICES.get(self.stay.service, self.stay.service or "MEDICINE")]
        yield "allergies", [self._pick("allergies")]
        yield "attending", ["___."]
        yield "complaint", [self._complaint()]
        yield "procedure", self._procedures() or ["None"]
        yield "illness", self._illness()
        yield "history", self._history()
        yield "social", [self._pick("social")]
        yield "family", [self._pick("family")]
        yield "exam", self._exam(at_discharge=False)
        yield "results", self._results()
        yield "course", self._course()
        yield "home_drugs", self._home_drugs()
        yield "discharge_exam", self._exam(at_discharge=True)
        if not self.stay.died:
            yield "discharge_drugs", numbered(map(order_line, self._discharge_drugs()))
        yield "disposition", ["Expired" if self.stay.died else (self.stay.destination or "Home").title()]
        yield "diagnosis", self._diagnosis()
        yield "condition", self._condition()
        yield "instructions", self._instructions()
        yield "followup", ["___"]

    def _pick(self, kind: str) -> str:
        return self.speech.choose(words()[kind], "___")

    def _complaint(self) -> str:
        first = self.told[0].complaint if self.told else ()
        return self.speech.choose(first, self.speech.choose(words()["systems"]["other"]["complaint"], "___"))

    def _illness(self) -> list[str]:
        say, who = self.speech.say, "woman" if self.stay.gender == "F" else "man"
        past = [name for name in self._past() if name][:3]
        opening = f"___ year old {who}" + (f" with a history of {', '.join(past)}" if past else "")
        complaints = [self.speech.choose(condition.complaint) for condition in self.told[:2]]
        reason = " and ".join(text[0].lower() + text[1:] for text in distinct(complaints) if text)
        first = f"{opening} who presents with {reason or 'symptoms as described'}."
        stories = [self.speech.choose(condition.story) for condition in self.told]
        later = [self.speech.choose(condition.story) for condition in self.told[:1]]
        told = " ".join(distinct([text for text in (*stories, *later) if text]))
        lines = [first, told, "", self._arrival(), "", say(self._pick("transfer"))]
        return [*lines, "", say(self._pick("ros"))]

    def _arrival(self) -> str:
        labs = first_of_each(lab for lab in self.stay.labs if lab.abnormal and self._within(lab.charttime, 0.25))
        shown = ", ".join(f"{lab.label} {lab.value}" for lab in labs[:5] if self.speech.tells_nothing(lab.label))
        notable = f" Labs were notable for {shown}." if shown else ""
        return f"In the ED, initial vitals: {self._vitals(ill=True)}.{notable}"

    def _past(self) -> list[str]:
        earlier = [condition_of(diagnosis) for stay in reversed(self.earlier) for diagnosis in stay.diagnoses]
        lasting = [condition for _, condition in self.conditions if condition.chronic]
        chosen = [*(condition.short for condition in earlier if condition.short), *(c.short for c in lasting)]
        return [name for name in distinct(chosen) if self.speech.tells_nothing(name)][:LONGEST_LIST]

    def _history(self) -> list[str]:
        done = distinct([procedure_words(item) for stay in self.earlier for item in stay.procedures])
        lines = [*self._past(), *(f"s/p {name}" for name in done[:4] if self.speech.tells_nothing(name))]
        mark = self.random.choice(("- ", "", "# "))
        if not lines:
            return ["None known"]
        return numbered(lines) if self.random.random() < 0.5 else [f"{mark}{line}" for line in lines]

    def _exam(self, at_discharge: bool) -> list[str]:
        found = {} if at_discharge else {
            place: text for condition in reversed(self.told) for place, text in condition.findings.items()
        }  # fmt: skip
        lines = ["VS: " + self._vitals(ill=not at_discharge)]
        for place, normal in words()["exam"].items():
            if place in found or self.random.random() < 0.8:
                text = found.get(place) or self.random.choice(normal)
                name = place.upper() if len(place) < 4 or place == "heent" else place.capitalize()
                if at_discharge or self.speech.tells_nothing(text):
                    lines.append(f"{name}: {text}")
        return lines

    def _vitals(self, ill: bool) -> str:
        random = self.random
        fever = ill and any(condition.fever for condition in self.told)
        temperature = random.uniform(100.8, 103.1) if fever else random.uniform(97.2, 99.1)
        pulse, breaths = random.randrange(88, 124) if ill else random.randrange(62, 92), random.randrange(14, 25)
        pressure = f"{random.randrange(92, 168)}/{random.randrange(48, 92)}"
        return f"T {temperature:.1f} HR {pulse} BP {pressure} RR {breaths} O2 {random.randrange(91, 100)}% RA"

    def _results(self) -> list[str]:
        lines = ["ADMISSION LABS:", *result_lines(self.stay.labs[:_RESULTS])]
        later = [lab for lab in self.stay.labs if not self._within(lab.charttime, 1.0)]
        return [*lines, "", "DISCHARGE LABS:", *result_lines(later[-_RESULTS // 2 :])] if later else lines

    def _course(self) -> list[str]:
        lines = [f"This is a ___ year old admitted with {self._complaint().lower()}, treated as follows.", ""]
        for number, (diagnosis, condition) in enumerate(self.conditions[: 2 * _TOP]):
            text = self.random.choice(condition.course or ("continued on the home regimen.",))
            mark = "ACTIVE ISSUES:" if number == 0 else "CHRONIC ISSUES:" if number == _TOP else ""
            lines += [mark] if mark else []
            lines += [f"# {diagnosis.title or condition.short}: {self.speech.say(text)}", ""]
        if done := self._procedures():
            lines += [f"During the stay: {'; '.join(done)}.", ""]
        if later := [drug.name for drug in self._later_drugs()]:
            lines += [f"Started in hospital: {', '.join(later[:8])}.", ""]
        return [*lines, "TRANSITIONAL ISSUES:", "- Repeat labs in one week with PCP.", "- Code status: full."]

    def _procedures(self) -> list[str]:
        return distinct([procedure_words(item).capitalize() for item in self.stay.procedures])[:8]

    def _later_drugs(self) -> list[Drug]:
        return by_name(drug for drug in self.stay.drugs if drug.start and not self._within(drug.start, 1.0))

    def _home_drugs(self) -> list[str]:
        taken = drugs_at_home(self.earlier[-1].drugs) if self.earlier else drugs_at_home(self.stay.drugs)[::2]
        if not taken:
            return ["None"]
        accurate = "The Preadmission Medication list is accurate and complete."
        listed = numbered(map(order_line, taken[:LONGEST_LIST]))
        return [accurate, *listed] if self.random.random() < 0.5 else listed

    def _discharge_drugs(self) -> list[Drug]:
        end = str(self.stay.discharged - _DAY)
        return drugs_at_home([drug for drug in self.stay.drugs if not drug.stop or drug.stop >= end])

    def _diagnosis(self) -> list[str]:
        titles = [diagnosis.title for diagnosis in self.stay.diagnoses if diagnosis.title]
        if not titles:
            return ["___"]
        return ["Primary:", titles[0], *(["Secondary:", *titles[1:LONGEST_LIST]] if titles[1:] else [])]

    def _condition(self) -> list[str]:
        if self.stay.died:
            return ["Deceased."]
        return [
            f"Mental Status: {self.random.choice(('Clear and coherent.', 'Confused - sometimes.'))}",
            "Level of Consciousness: Alert and interactive.",
            f"Activity Status: {self.random.choice(('Ambulatory - Independent.', 'Out of Bed with assistance.'))}",
        ]

    def _instructions(self) -> list[str]:
        if self.stay.died:
            return ["___"]
        title = self.stay.diagnoses[0].title if self.stay.diagnoses else "your illness"
        return [
            f"Dear {'Ms.' if self.stay.gender == 'F' else 'Mr.'} ___,",
            "",
            f"You were in the hospital because of {title.lower() or 'your illness'}. While you were here you were "
            "treated and watched closely, and you are now well enough to leave.",
            "",
            "Please take your medicines as listed, and call your doctor for fever, pain or shortness of breath.",
            "",
            "Your ___ team",
        ]

    def _within(self, time: str, days: float) -> bool:
        return time < str(self.stay.admitted + days * _DAY)
