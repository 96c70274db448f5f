"""`clinical-evals matcher evaluate`: its arguments and command."""

import argparse
import json
from pathlib import Path

_DESCRIPTION = """\
How often matchers find the code of a text whose code is known, at each level of the code system: on held-out official
synonyms (ICD-10-CM: inclusion terms; ICD-10-PCS: short titles), on MIMIC's names of lab items (LOINC) and of drugs
(ATC). Every matcher gets the same texts. What is held out is in no index and in no training.
"""


def add_matcher(parser: argparse.ArgumentParser) -> None:
    """Add the commands of `matcher`."""
    from clinical_evals.tasks.names import TASKS

    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    run = commands.add_parser(
        "evaluate",
        help="how often matchers are right, level by level",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_argument(
        "--system",
        choices=[task.system for task in TASKS if task.system],
        default="icd10cm",
        help="default: %(default)s",
    )
    run.add_argument(
        "--matcher",
        action="append",
        metavar="NAME|FOLDER",
        help="papers (MiniLM over the titles), synonyms (with the official synonyms that are not held out), hybrid, "
        "the folder of a sentence-transformers model, or hybrid:FOLDER; +int8 at the end: the model in 8 bits; may be "
        "given several times (default: papers, synonyms and hybrid)",
    )
    run.add_argument("--items", type=int, default=2000, metavar="N", help="held-out texts (default: %(default)s)")
    run.add_argument("--seed", type=int, default=0, help="of their draw (default: %(default)s)")
    run.add_argument(
        "--drugs", type=Path, metavar="FILE", help="of atc: MIMIC's prescriptions table, for the names of drugs"
    )
    run.add_argument(
        "--reliability",
        type=Path,
        metavar="FILE",
        help="draw there (.png, .svg) how often a matcher was right when it was so and so sure",
    )
    run.add_argument("--json", action="store_true", help="as JSON")
    run.set_defaults(command=evaluate)


def evaluate(args: argparse.Namespace) -> None:
    """Print how often each matcher is right."""
    from clinical_evals.matching.evaluation.matchers import matcher_of
    from clinical_evals.matching.evaluation.measured import measure
    from clinical_evals.matching.evaluation.reliability import check_drawable, draw, reliability
    from clinical_evals.matching.evaluation.table import as_json, format_measured
    from clinical_evals.matching.pairs import SOURCES, pairs_of, split
    from clinical_evals.ontology import get_system

    system = get_system(args.system)
    pairs = pairs_of(system, args.drugs)
    held_out, known = split(pairs, args.items, args.seed)
    names = list(dict.fromkeys(args.matcher or ("papers", "synonyms", "hybrid")))
    makers = {
        name: matcher_of(name, system, known, held_out) for name in names
    }  # what is wrong is said before any is asked
    if args.reliability is not None:
        check_drawable(args.reliability)
    measured = [measure(name, make, held_out, system) for name, make in makers.items()]
    if args.reliability is not None:
        level = system.levels[len(system.levels) // 2]
        draw([reliability(each, held_out, system) for each in measured], level, args.reliability)
    if args.json:
        about = {"system": system.name, "release": system.release, "texts": SOURCES[system.name], "pairs": len(pairs)}
        print(json.dumps(about | {"seed": args.seed, "matchers": as_json(measured)}, indent=1, ensure_ascii=False))
        return
    print(
        f"{len(held_out):,} of {len(pairs):,} {SOURCES[system.name]} held out (seed {args.seed}), {system.name} "
        f"{system.release}; right at each level in %, 95 % interval\n\n{format_measured(measured)}"
    )
