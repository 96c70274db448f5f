"""The import lines of the design: who may import whom, and what must stay out of cheap modules."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "clinical_evals"
SOURCE = Path(__file__).parents[1] / "src" / PACKAGE

# Each layer may import itself and everything above it in this table; layers of one line may not import each other.
LAYERS = (
    ("errors", "version", "markers", "write_aside", "ruled_table"),
    ("ontology", "scoring", "truncation", "published_table", "json_file", "yaml_file"),
    ("matching",),
    ("ior_bench", "clibench"),
    ("assets", "names"),
    ("datasets_hub", "tasks", "hub", "report", "training"),
    ("demo", "demo_dialogue", "demo_train", "spaces"),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
# `tasks` runs what `datasets_hub` loads and passes the guard of `hub`; `training` trains on what they load, finds
# models as they do and writes cards from the facts of `hub`; these are looked at by name.
ALLOWED_SIDEWAYS = {
    ("tasks", "datasets_hub"),
    ("tasks", "hub"),
    ("report", "hub"),
    ("training", "datasets_hub"),
    ("training", "hub"),
    ("training", "report"),
    ("training", "tasks"),
}
# The cards are written from the schema of `datasets_hub`, whose builds write them: by these modules alone.
ALLOWED_BY_MODULE = (
    ("hub/cards/*.py", "clinical_evals.datasets_hub"),
    ("datasets_hub/build_*.py", "clinical_evals.hub.cards"),
)
HEAVY = {
    "torch",
    "transformers",
    "sentence_transformers",
    "lighteval",
    "trl",
    "ibis",
    "datasets",
    "evaluate",
    "peft",
    "gradio",
}


def _imports(path: Path, everywhere: bool = True) -> Iterator[str]:
    """The modules a file imports: everywhere in it, or only when it is itself imported (not under TYPE_CHECKING)."""
    stack: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        if not everywhere and (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        ):
            continue
        stack.extend(ast.iter_child_nodes(node))


def _layer(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == PACKAGE and len(parts) > 1 else None


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nobody_imports_upwards_or_sideways(path: Path) -> None:
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if own == "__init__":
        return  # the public names: may point anywhere, lazily; test_importing_us_is_cheap holds it
    assert own in RANK, f"{own} has no place in the layers of this test yet"
    for module in _imports(path):
        other = _layer(module)
        if other in (None, own) or (own, other) in ALLOWED_SIDEWAYS or other not in RANK:
            continue
        if any(path.match(pattern) and module.startswith(allowed) for pattern, allowed in ALLOWED_BY_MODULE):
            continue
        assert RANK[other] < RANK[own], f"{own} imports {module}"


@pytest.mark.parametrize("layer", ["ontology", "scoring"])
def test_codes_and_scores_need_no_deep_learning(layer: str) -> None:
    for path in (SOURCE / layer).rglob("*.py"):
        found = {module.split(".")[0] for module in _imports(path)} & HEAVY
        assert not found, f"{path} imports {found}"


@pytest.mark.parametrize(
    "name",
    ["__init__.py", "cli/__init__.py", "cli/arguments.py", "cli/commands.py", "errors.py", "names.py", "assets.py"],
)
def test_cheap_modules_import_nothing_heavy_at_import_time(name: str) -> None:
    path = SOURCE / name
    if path.exists():
        assert not {module.split(".")[0] for module in _imports(path, everywhere=False)} & (HEAVY | {"numpy"})


def _python(code: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_us_is_cheap(tmp_path: Path) -> None:
    code = "import sys, clinical_evals; print(sorted(set(sys.modules) & {names!r}))"
    assert _python(code.format(names=HEAVY | {"numpy", "simple_icd_10_cm", "pandas"}), tmp_path) == "[]"


def test_datasets_is_hugging_faces_from_the_repository_root(repository: Path) -> None:
    assert (repository / "datasets").is_dir()
    code = "import datasets, evaluate; print(datasets.__file__); print(datasets.Dataset.__name__)"
    file, name = _python(code, repository).splitlines()
    assert not Path(file).is_relative_to(repository / "datasets")
    assert name == "Dataset"


def test_no_folder_turns_a_library_into_ours(repository: Path) -> None:
    for folder in ("datasets", "metrics", "tests/datasets", "training"):
        assert not list((repository / folder).rglob("__init__.py")), f"{folder} must not be a package"


def test_what_the_spaces_show_needs_no_page(tmp_path: Path) -> None:
    code = """
import sys
from clinical_evals.spaces.codes_page import show_codes
from clinical_evals.spaces.departments_page import show_referral
print(sorted(set(sys.modules) & {"gradio", "torch", "datasets"}))
"""
    assert _python(code, tmp_path) == "[]"


def test_scoring_codes_does_not_load_torch(tmp_path: Path) -> None:
    code = """
import sys
from clinical_evals.matching.scorer import CodeScorer
answer = "1. I10\\n2. Type 2 diabetes mellitus without complications"
result = CodeScorer("icd10cm").score([answer], [["I10", "E11.9"]])
assert result.scores()["f1_full"] == 1.0, result
print(sorted(set(sys.modules) & {"torch", "sentence_transformers", "transformers"}))
"""
    assert _python(code, tmp_path) == "[]"
