"""A tiny encoder and a small hospital's invented questions."""

import random
from pathlib import Path

COMPLAINTS = {
    "骨科": ("膝盖肿了", "脚踝扭伤", "手腕骨折", "腰椎疼", "肩膀抬不起来"),
    "皮肤科": ("胳膊起红疹", "脸上长痘", "皮肤发痒", "手上脱皮", "头皮起屑"),
    "眼科": ("看东西模糊", "眼睛发红", "眼前有黑影", "老是流眼泪", "眼皮跳"),
}
SINCE = ("两天了", "一个星期了", "半个月了", "快三个月了", "从昨晚开始")
MORE = ("越来越重", "夜里明显", "用过药没好", "以前没有过", "怎么办")


def write_questions(folder: Path, rows: int = 60, departments: tuple[str, ...] = tuple(COMPLAINTS)) -> Path:
    """A folder of built data: invented questions, as `clinical-evals build ior-bench` makes it of a table."""
    from clinical_evals.datasets_hub.build_ior_bench import Request, build_ior_bench

    draw = random.Random(0)
    lines = ["department,ask"]
    for place in range(rows):
        department = departments[place % len(departments)]
        words = (draw.choice(COMPLAINTS[department]), draw.choice(SINCE), draw.choice(MORE))
        lines.append(f"{department},{'，'.join(words)}（第{place}位）")
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "questions.csv"
    table.write_text("\n".join(lines), encoding="utf-8")
    build_ior_bench(Request(table, "static", {"department": "department", "question": "ask"}, folder / "built"))
    return folder / "built"


def write_encoder(folder: Path, **sizes: int) -> Path:
    """A BERT of random weights whose tokens are single characters."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = "".join([*COMPLAINTS, *(word for each in COMPLAINTS.values() for word in each), *SINCE, *MORE])
    signs = sorted({*words, *"患者导诊：，（）第位0123456789"})
    vocabulary = {sign: number for number, sign in enumerate([*special, *signs])}
    plain = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    plain.normalizer = normalizers.BertNormalizer()
    plain.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    plain.post_processor = processors.BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=plain, model_max_length=64, **names).save_pretrained(folder)
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64} | sizes
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=64, **shape)).save_pretrained(folder)
    return folder
