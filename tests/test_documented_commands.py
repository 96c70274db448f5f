"""README, docs, training: each command of ours in a code block is read by its parser, so that a wrong flag fails."""

import argparse
import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from clinical_evals.cli.arguments import make_parser

REPOSITORY = Path(__file__).parents[1]
PAGES = sorted(
    path
    for path in [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md"), *REPOSITORY.glob("training/**/*.md")]
    if path.name != "CHANGELOG.md"
)


def commands(text: str) -> Iterator[list[str]]:
    """The lines of code blocks that call us, as the shell splits them: no prompt, settings, brackets or pipes."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        prompt = r"(?:\$ )?" if language == "bash" else r"\$ "  # what else stands in a text block is output
        for line in block.replace("\\\n", " ").splitlines():
            ours = r"(?:[A-Z_]+=\S* )*((?:clinical-evals|python training/\S+\.py) .*)"
            if not (found := re.match(prompt + ours, line)):
                continue
            words = shlex.split(re.sub(r"\[(--[^\]]*)\]", r"\1", found[1]), comments=True)
            ends = [place for place, word in enumerate(words) if word in ("|", ">", "&&", "2>&1")]
            yield words[: min(ends, default=len(words))]


def parser_of(words: list[str]) -> tuple[argparse.ArgumentParser, list[str]]:
    """The parser that reads a command, and what it reads."""
    if words[0] == "clinical-evals":
        return make_parser(), words[1:]
    script = REPOSITORY / words[1]
    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    parser: argparse.ArgumentParser = module.make_parser()
    return parser, words[2:]


FOUND = [
    pytest.param(words, id=f"{page.relative_to(REPOSITORY)}:{' '.join(words)[:60]}")
    for page in PAGES
    for words in commands(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("words", FOUND)
def test_every_command_is_read(words: list[str]) -> None:
    parser, given = parser_of(words)
    parser.parse_args([word for word in given if word != "…"])  # "and more of them"


def test_the_pages_have_commands() -> None:
    """The main ones do, so that a changed form of code blocks does not empty the test above."""
    for name in ("README.md", "docs/matching.md", "docs/push.md", "training/README.md", "training/tuning.md"):
        assert list(commands((REPOSITORY / name).read_text(encoding="utf-8"))), name


@pytest.mark.parametrize(
    "line",
    [
        "clinical-evals eval accelerate model_name=m --taks 'clibench|diagnosis'",
        "$ clinical-evals scoer LOG",
        "HF_HUB_OFFLINE=1 clinical-evals compare --no-such-flag A B",
        "python training/classify_department.py --epoch 3",
        "clinical-evals build sft --task diagnosis [--limits 3]",
    ],
)
def test_a_wrong_one_would_be_seen(line: str) -> None:
    (words,) = commands(f"```bash\n{line}\n```\n")
    parser, given = parser_of(words)
    with pytest.raises(SystemExit):
        parser.parse_args(given)


def test_links_lead_to_files() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
