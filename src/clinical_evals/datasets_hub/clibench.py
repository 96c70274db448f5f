"""`load_dataset("clibench", "diagnosis")`: decisions on hospital admissions (CliBench, arXiv 2406.09923).

    import clinical_evals
    from datasets import load_dataset
    load_dataset("clibench", "diagnosis", split="test")                  # the embedded sample: synthetic
    load_dataset("clibench", "diagnosis", data_dir="data/clibench")      # what `clinical-evals build clibench` wrote

Without `data_dir` the environment variable CLIBENCH_DIR names the folder of built data; without that, too, the rows
are those of the embedded sample. A folder holds CONFIG/SPLIT.parquet (or .json), see `split_files`.
"""

from clinical_evals.datasets_hub.built_data import BuiltConfig, BuiltData, configs_of


class CliBenchConfig(BuiltConfig):
    """One task of CliBench."""

    DATASET = "clibench"
    DIRECTORY_VARIABLE = "CLIBENCH_DIR"


class CliBench(BuiltData):
    """The builder behind the bare name `clibench`."""

    BUILDER_CONFIG_CLASS = CliBenchConfig
    BUILDER_CONFIGS = configs_of(
        CliBenchConfig,
        diagnosis="ICD-10-CM billing codes of the admission",
        procedure="ICD-10-PCS codes of its first batch of procedures",
        lab_order="LOINC numbers of its first batch of lab orders",
        prescription="ATC codes of its first batch of drugs",
    )
    DEFAULT_CONFIG_NAME = "diagnosis"
