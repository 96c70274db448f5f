"""From settings to a folder with the model, its list of texts and its card."""

import random
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from clinical_evals.errors import InputError, UnknownNameError
from clinical_evals.matching.encoder import load_encoder
from clinical_evals.matching.pairs import SOURCES, pairs_of, split
from clinical_evals.matching.trained_on import write_trained_on
from clinical_evals.ontology import get_system
from clinical_evals.training.code_matcher.fitting import fit
from clinical_evals.training.code_matcher.settings import Settings
from clinical_evals.training.code_matcher.triples import texts_to_learn, triples_of
from clinical_evals.write_aside import made_once

SYSTEMS = ("icd10cm", "icd10pcs")
"""Those whose further names come with the release."""
_CARD = """\
---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
base_model: {model}
license: apache-2.0
language: en
tags: [medical, {system}]
---
# A matcher of clinical phrases to {system}

{model}, fine-tuned on {texts:,} further names of {release} ({source} and names in notes; no patients' data) with the
titles of their codes and titles close by as negatives. Use it with `--matcher FOLDER` or `--matcher hybrid:FOLDER` of
clinical-evals. `trained_on.json` lists the texts by hash: an evaluation on one of them is refused.

Settings: {settings}
"""


def train(settings: Settings, say: Callable[[str], None]) -> Path:
    """Train a model and write its folder, whole or not at all.

    Args:
        settings: what to do.
        say: is told what happens, line by line.

    Raises:
        UnknownNameError: a system without further names.
        InputError: the output folder exists; as many texts are to be kept from training as there are, or more.
        ResourceMissingError: the model or the release is not on this machine.
    """
    if settings.system not in SYSTEMS:
        raise UnknownNameError("system with further names", settings.system, SYSTEMS)
    output = Path(settings.output_dir)
    if output.exists():
        raise InputError(f"{output} exists. Give another output_dir, or remove it.")
    encoder = load_encoder(settings.model)
    system = get_system(settings.system)
    pairs = pairs_of(system)
    _check_enough(settings, len(pairs))
    held_out, known = split(pairs, settings.held_out, settings.seed)
    kept = random.Random(settings.seed + 1).sample(known, settings.for_ranker)
    texts = texts_to_learn(system, known, [*held_out, *kept])
    if not texts:
        raise InputError(
            f"of {len(pairs):,} {SOURCES[system.name]} {settings.held_out:,} are held out and {settings.for_ranker:,} "
            "kept for the ranker: none is left to learn of. Lower held_out or for_ranker."
        )
    triples = triples_of(system, texts, settings.seed)
    say(
        f"{len(texts):,} texts to learn of, as {len(triples):,} triples; {len(held_out):,} held out, {len(kept):,} "
        "kept for the ranker of the hybrid matcher"
    )

    def write(aside: Path) -> None:
        fit(encoder.folder, triples, settings, aside)
        about: dict[str, object] = {"system": system.name, "release": system.release, "settings": asdict(settings)}
        write_trained_on(aside, [text for text, _ in texts], about)
        card = _CARD.format(
            model=settings.model,
            system=system.name,
            release=f"{system.name} {system.release}",
            source=SOURCES[system.name],
            texts=len(texts),
            settings=", ".join(f"{name} {value}" for name, value in asdict(settings).items()),
        )
        (aside / "README.md").write_text(card, encoding="utf-8")
        aside.chmod(0o755)  # no patient's rows are in it: others may read it

    made_once(output, "modules.json", write)
    asked = f"--system {system.name} --items {settings.held_out} --seed {settings.seed}"
    folder = output if output.is_absolute() else f"./{output}"
    say(f"written: {output}")
    say(f"how good it is: clinical-evals matcher evaluate {asked} --matcher papers --matcher {folder}")
    return output


def _check_enough(settings: Settings, there: int) -> None:
    """Whether texts are left when those of the evaluation and of the ranker are taken out; nothing takes fewer."""
    names = f"{there:,} {SOURCES[settings.system]}"
    if settings.held_out >= there:
        raise InputError(
            f"held_out is {settings.held_out:,}, but there are only {names}, and some must be left to learn of. Give "
            f"a held_out below {there:,}."
        )
    left = there - settings.held_out
    if settings.for_ranker >= left:
        raise InputError(
            f"for_ranker is {settings.for_ranker:,}, but of {names} only {left:,} are left when held_out takes "
            f"{settings.held_out:,}, and some must be left to learn of. Give a for_ranker below {left:,}, or a "
            "smaller held_out."
        )
