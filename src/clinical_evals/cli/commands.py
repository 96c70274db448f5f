"""The commands, each with the parsed arguments; what one needs is imported inside it."""

import argparse

VLLM = """\
Run a model with vLLM. MODEL_ARGS are those of lighteval's VLLMModelConfig. With a data_parallel_size above 1 the
copies run on a Ray cluster (RAY_ADDRESS, else this machine), each on tensor_parallel_size x pipeline_parallel_size
GPUs.

vLLM does not promise the same answer whatever it is computed with. An interrupted run goes on from the last finished
row and draws what it would have drawn, but it need not end in the same bytes as an uninterrupted one.
"""


ENDPOINT = """\
Let a model behind an OpenAI-compatible address answer. The key comes from OPENAI_API_KEY, or from the variable that
api_key_env=NAME names. MODEL_ARGS further take context (tokens of prompt and answer; needed, unless --context is
given), concurrency, attempts, timeout and connect_timeout in seconds, input_price and output_price of a million
tokens, length_parameter=max_completion_tokens, send_temperature=False, send_seed=False.

A request that fails is sent again, after the time that the server asks for or longer and longer waits. A row without
an answer at last is missing: in no score, named in the result, and asked again by the same command. More than 2 % of
them end the run with an error. What was answered is in the log in every case.
"""


def evaluate(args: argparse.Namespace) -> None:
    """Run a model on tasks. Every answer is logged as it comes; the same command again goes on where it stopped."""
    from clinical_evals.report.published_tables import PUBLISHED
    from clinical_evals.tasks.launcher import evaluate
    from clinical_evals.tasks.options import Options
    from clinical_evals.tasks.scored.tables import format_results
    from clinical_evals.tasks.variants import parse_contexts, parse_without

    options = Options(
        model_args=args.model_args,
        tasks=args.tasks,
        output_dir=args.output_dir,
        max_samples=args.max_samples,
        batch_size=args.batch_size,
        contexts=parse_contexts(args.context),
        without=parse_without(args.without),
        answer_tokens=args.answer_tokens,
        seed=args.seed,
        samples=args.samples,
        protocol=args.protocol,
        dictionary=args.dictionary,
        matcher=args.matcher,
        backend=args.backend,
        shots=args.shots,
        temperature=args.temperature,
        probe_turns=args.probe_turns,
        dua_consent=args.dua_consent,
        patient_model=args.patient_model,
        patient_backend=args.patient_backend,
        turns=args.turns,
        concurrency=args.concurrency,
        max_tokens=args.max_tokens,
        max_cost=args.max_cost,
        split=args.split,
    )
    if results := evaluate(options):
        print(f"\n{format_results(results, published=PUBLISHED)}")


def score(args: argparse.Namespace) -> None:
    """Print the scores of a log as `eval` does, and write them beside it or to --output."""
    from clinical_evals.tasks.scored.rescore import rescore
    from clinical_evals.tasks.scored.tables import format_results

    results, files = rescore(args.log, args.protocol, args.dictionary, args.output, args.matcher)
    print(format_results(results, files))


def explain(args: argparse.Namespace) -> None:
    """Print one row of a log."""
    from clinical_evals.tasks.scored.explain import explain

    print(explain(args.log, args.row, args.protocol, args.dictionary, args.matcher))


def install(_: argparse.Namespace) -> None:
    """Let `datasets` and `evaluate` find the names through their own caches; prints what works then and what not."""
    from clinical_evals.datasets_hub.install import install

    print(install())


def uninstall(_: argparse.Namespace) -> None:
    """Take away what `install` put into the caches of `datasets` and `evaluate`, and nothing else."""
    from clinical_evals.datasets_hub.install import uninstall

    print(uninstall())


def list_tasks(_: argparse.Namespace) -> None:
    """Print each task with its description, and the names that stand for several."""
    from clinical_evals.tasks.names import GROUPS, TASKS

    names = {task.name: task.description for task in TASKS} | GROUPS
    width = max(map(len, names))
    for name, description in names.items():
        print(f"{name:<{width}}  {description}")


def show_prompt(args: argparse.Namespace) -> None:
    """Print the prompt of one row of the test split."""
    from clinical_evals.tasks.show import format_prompt

    print(format_prompt(args.task, args.row))


def run_demo(args: argparse.Namespace) -> None:
    """Run the demo."""
    from clinical_evals.demo import run_demo

    run_demo(args.output_dir, args.rows)


def run_training_demo(args: argparse.Namespace) -> None:
    """Run the demo of training."""
    from clinical_evals.demo_train import run_training_demo

    run_training_demo(args.output_dir)


def run_dialogue_demo(args: argparse.Namespace) -> None:
    """Run the demo of the dynamic task."""
    from clinical_evals.demo_dialogue import run_dialogue_demo

    run_dialogue_demo(args.output_dir)
