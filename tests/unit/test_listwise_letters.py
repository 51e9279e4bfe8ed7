"""The tokens of letters: the bare ones, for tokenizers of different kinds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import normalizers

from listwise_models import PROSE, ZEPHYR, byte_level_tokenizer, sentencepiece_tokenizer
from posbias.errors import ConfigError
from posbias.listwise.letters import answer_ids, find_letters
from posbias.listwise.prompt import LETTERS, ChatPrompt, answer_text

CHATS = {
    "byte-level": ChatPrompt(byte_level_tokenizer(), "byte-level"),
    "sentencepiece": ChatPrompt(sentencepiece_tokenizer(), "sentencepiece"),
}
TOKENS = {name: find_letters(chat) for name, chat in CHATS.items()}


@pytest.mark.parametrize("name", CHATS)
def test_each_letter_is_the_token_behind_the_bracket(name):
    chat, tokens = CHATS[name], TOKENS[name]
    assert chat.tokenizer.convert_ids_to_tokens(tokens.opening) == "["
    assert chat.tokenizer.convert_ids_to_tokens(tokens.letters) == list(LETTERS)
    assert len(set(tokens.letters)) == 26


@pytest.mark.parametrize("name", CHATS)
def test_letters_with_a_space_in_front_are_other_tokens(name):
    chat = CHATS[name]
    spaced = chat.plain_ids("x A")[-1]
    assert chat.tokenizer.convert_ids_to_tokens(spaced) in ("ĠA", "▁A")
    # Both print as the same letter, so that a reader by printed text takes one for the other.
    assert chat.tokenizer.decode([spaced]).strip() == "A"
    assert spaced not in TOKENS[name].letters


ORDERS = st.integers(1, 26).flatmap(lambda size: st.permutations(range(size)))


@given(st.sampled_from(sorted(CHATS)), ORDERS)
def test_an_answer_is_bracket_letter_and_so_on_to_the_end(name, order):
    chat, tokens = CHATS[name], TOKENS[name]
    ids = answer_ids(chat, tokens, order)
    assert ids[:2] == [tokens.opening, tokens.letters[order[0]]]
    assert ids[-1] == chat.tokenizer.eos_token_id
    assert chat.tokenizer.decode(ids[:-1]) == answer_text(order)
    # Every letter of the answer is the token whose logit is the passage's score.
    named = [number for number in ids if number in tokens.letters]
    assert named == [tokens.letters[slot] for slot in order]


def test_an_answer_continues_the_prompt_as_the_tokenizer_reads_it():
    for chat, tokens in ((CHATS[name], TOKENS[name]) for name in CHATS):
        prompt = chat.text("what is x", ["alpha text", "beta text"])
        whole = chat.plain_ids(prompt + answer_text([1, 0]))
        assert whole == chat.plain_ids(prompt) + answer_ids(chat, tokens, [1, 0])[:-1]


def test_letters_that_merge_with_their_brackets_are_refused():
    prose = [*PROSE, " ".join(f"[{letter}]" for letter in LETTERS) * 50]
    chat = ChatPrompt(byte_level_tokenizer(prose=prose, split=False), "some folder")
    with pytest.raises(ConfigError, match=r"some folder: .*reads \[[A-Z]\] behind the opening"):
        find_letters(chat)


def test_a_bracket_that_merges_with_the_prompt_is_refused():
    tokenizer = byte_level_tokenizer(ZEPHYR.replace("<|assistant|>\n", "answer ["))
    tokenizer.add_tokens(["[["])
    chat = ChatPrompt(tokenizer, "some folder")
    with pytest.raises(ConfigError, match=r"some folder: .*opening bracket apart"):
        find_letters(chat)


def test_a_bracket_outside_the_vocabulary_is_refused():
    tokenizer = sentencepiece_tokenizer()
    tokenizer.backend_tokenizer.normalizer = normalizers.Replace("[", "\u2603")
    chat = ChatPrompt(tokenizer, "some folder")
    assert chat.plain_ids("x[")[-1] == tokenizer.unk_token_id
    with pytest.raises(ConfigError, match=r"some folder: .*opening bracket apart"):
        find_letters(chat)


@pytest.mark.parametrize("change", [normalizers.Lowercase(), normalizers.Replace("[", "")])
def test_letters_that_the_tokenizer_changes_are_refused(change):
    tokenizer = byte_level_tokenizer()
    tokenizer.backend_tokenizer.normalizer = change
    with pytest.raises(ConfigError, match="some folder: the tokenizer"):
        find_letters(ChatPrompt(tokenizer, "some folder"))


def test_letters_that_are_one_to_the_tokenizer_are_refused():
    tokenizer = byte_level_tokenizer()
    tokenizer.backend_tokenizer.normalizer = normalizers.Replace("Q", "O")
    with pytest.raises(ConfigError, match=r"some folder: the tokenizer reads \[Q\]"):
        find_letters(ChatPrompt(tokenizer, "some folder"))


def test_an_answer_needs_an_end_token():
    tokenizer = byte_level_tokenizer()
    tokenizer.eos_token = None
    chat = ChatPrompt(tokenizer, "some folder")
    with pytest.raises(ConfigError, match="some folder: the tokenizer has no end token"):
        answer_ids(chat, find_letters(chat), [0, 1])


def test_an_answer_that_the_tokenizer_reads_otherwise_is_refused():
    tokenizer = byte_level_tokenizer()
    chat = ChatPrompt(tokenizer, "some folder")
    tokens = find_letters(chat)
    tokenizer.add_tokens(["[B] >"])
    assert answer_ids(chat, tokens, [0, 1])
    with pytest.raises(ConfigError, match=r"some folder: .*reads the answer \[B\] > \[A\]"):
        answer_ids(chat, tokens, [1, 0])
