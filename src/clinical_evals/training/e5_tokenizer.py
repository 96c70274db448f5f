"""The tokenizer of multilingual-e5-small as a fast tokenizer of transformers, whole or with a Chinese vocabulary."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clinical_evals.training.e5_file import E5File

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPACE = "▁"
"""How sentencepiece writes a space, and marks the start of a text."""
LENGTH = 512
"""The most tokens that the model reads."""
PREFIXES = ("▁query", "▁passage")
"""The words that the original model expects before a text, each followed by a colon."""
_REMOVED = "[\\u0001-\\u0008\\u000b\\u000e-\\u001f\\u007f\\u008f\\u009f]"
_SPACES = "[\\t\\n\\f\\r\\u1680\\u200b-\\u200f\\u2028\\u2029\\u2581\\ufeff\\ufffd]"
# What sentencepiece's map of characters does beyond NFKC: with these it is the same for all 4,837 of its entries.
_OTHER_SIGNS = frozenset("“”‘’…—·°×±≤≥μ")
_LONGEST_ASCII = 3


def chinese_pieces(file: E5File) -> list[int]:
    """The numbers of the pieces that Chinese text is made of, sorted.

    Kept are the special pieces, the `PREFIXES`, every piece with a Chinese character, and pieces of at most three
    signs that are ASCII, or Chinese or full-width punctuation: numbers, units, short abbreviations. Other words of
    Latin letters are then written in these.
    """
    kept = {*file.specials, *(number for number, piece in enumerate(file.pieces) if _is_special(piece))}
    kept.update(number for number, piece in enumerate(file.pieces) if is_chinese_piece(piece))
    return sorted(kept)


def is_chinese_piece(piece: str) -> bool:
    """Whether a piece is kept in a Chinese vocabulary.

    >>> [is_chinese_piece(piece) for piece in ("▁头痛", "mg", "▁38", "CT检查", "hospital", "больница", "，")]
    [True, True, True, True, False, False, True]
    """
    signs = piece.replace(SPACE, "")
    if not all(_is_known(sign) for sign in signs):
        return False
    return len(signs) <= _LONGEST_ASCII or any("\u4e00" <= sign <= "\u9fff" for sign in signs)


def make_tokenizer(file: E5File, kept: Sequence[int]) -> Any:
    """A `PreTrainedTokenizerFast` with these pieces, numbered in the order given.

    Args:
        file: has the pieces and their scores.
        kept: the numbers of the pieces in the file; those of the special ones are among them.
    """
    from transformers import PreTrainedTokenizerFast

    specials = {name: file.pieces[number] for name, number in file.specials._asdict().items()}
    mask = {"mask_token": "<mask>"} if "<mask>" in (file.pieces[number] for number in kept) else {}
    return PreTrainedTokenizerFast(
        tokenizer_object=_unigram(file, kept),
        model_max_length=LENGTH,
        bos_token=specials["bos"],
        eos_token=specials["eos"],
        cls_token=specials["bos"],
        sep_token=specials["eos"],
        pad_token=specials["pad"],
        unk_token=specials["unk"],
        **mask,
    )


def _unigram(file: E5File, kept: Sequence[int]) -> "Tokenizer":
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    number = {old: new for new, old in enumerate(kept)}
    vocabulary = [(file.pieces[old], float(file.scores[old])) for old in kept]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=number[file.specials.unk], byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_REMOVED), ""),
            normalizers.Replace(Regex(_SPACES), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Strip(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    start, end = (file.pieces[number] for number in (file.specials.bos, file.specials.eos))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}",
        pair=f"{start} $A {end} {end} $B {end}",
        special_tokens=[(start, number[file.specials.bos]), (end, number[file.specials.eos])],
    )
    return tokenizer


def _is_special(piece: str) -> bool:
    return piece in ("<mask>", SPACE, *PREFIXES)


def _is_known(sign: str) -> bool:
    return (
        sign.isascii()
        or "\u4e00" <= sign <= "\u9fff"
        or "\u3000" <= sign <= "\u303f"
        or "\uff00" <= sign <= "\uffef"
        or sign in _OTHER_SIGNS
    )
