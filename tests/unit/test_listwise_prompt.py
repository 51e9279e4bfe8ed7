"""The prompt of FIRST: its exact words, harmless texts, and windows that are too long."""

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, normalizers

from listwise_models import NO_SYSTEM, TURNS, byte_level_tokenizer, sentencepiece_tokenizer
from posbias.errors import ConfigError, DataError
from posbias.listwise.prompt import (
    EXAMPLE,
    LETTERS,
    ChatPrompt,
    answer_text,
    fitted_prompt,
    prompt_hash,
    template,
    user_turn,
)

CHATS = {
    "byte-level": ChatPrompt(byte_level_tokenizer(), "byte-level"),
    "sentencepiece": ChatPrompt(sentencepiece_tokenizer(), "sentencepiece"),
}
ROOM = 100_000


@pytest.fixture(params=CHATS)
def chat(request) -> ChatPrompt:
    return CHATS[request.param]


def controls(chat: ChatPrompt, ids: list[int]) -> int:
    special = {chat.tokenizer.bos_token_id, chat.tokenizer.eos_token_id}
    return sum(number in special for number in ids)


def test_the_wording_is_the_one_that_checkpoints_were_trained_on():
    turn = user_turn(*EXAMPLE)
    assert len(turn) == 510
    assert hashlib.sha256(turn.encode()).hexdigest().startswith("9c13ebeba071a0f4")
    # Its system turn ends without a full stop.
    assert len(template()["system"]) == 102
    assert template()["system"].endswith("query")


def test_texts_are_put_in_as_they_are():
    turn = user_turn("why {query}?", ["a {letter} %s", ""])
    assert (
        "search query: why {query}?.\n\n[A] a {letter} %s\n[B] \nSearch Query: why {query}?.\n"
        in (turn)
    )


def test_swapped_passages_swap_texts_and_nothing_else():
    one, two = user_turn("q", ["uno", "dos"]), user_turn("q", ["dos", "uno"])
    assert one.replace("uno", "#").replace("dos", "uno").replace("#", "dos") == two


def test_every_letter_names_its_passage():
    turn = user_turn("q", [f"text {number}" for number in range(26)])
    found = re.findall(r"^\[(\w)\] text (\d+)$", turn, re.MULTILINE)
    assert found == [(letter, str(number)) for number, letter in enumerate(LETTERS)]
    assert "with 26 passages" in turn
    assert "Rank the 26 passages above" in turn


@pytest.mark.parametrize("size", [0, 27, 30])
def test_a_window_beyond_the_letters_is_refused(size):
    with pytest.raises(ConfigError, match=f"window of {size}: at most 26 letters"):
        user_turn("q", ["text"] * size)


def test_an_answer_names_slots_best_first():
    assert answer_text([1, 0, 25]) == "[B] > [A] > [Z]"


def test_a_chat_template_is_needed():
    with pytest.raises(ConfigError, match="some folder: the tokenizer has no chat template"):
        ChatPrompt(byte_level_tokenizer(chat_template=None), "some folder")


def test_a_chat_template_that_fails_is_named():
    broken = "{{ raise_exception('no luck') }}"
    with pytest.raises(ConfigError, match=r"some folder: .*chat template fails.*no luck"):
        ChatPrompt(byte_level_tokenizer(broken), "some folder")


IGNORES_SYSTEM = TURNS.replace(
    "{% for message in messages %}", "{% for message in messages if message['role'] == 'user' %}"
)


@pytest.mark.parametrize("chat_template", [NO_SYSTEM, IGNORES_SYSTEM])
def test_without_a_system_role_its_text_goes_before_the_users_turn(chat_template):
    chat = ChatPrompt(byte_level_tokenizer(chat_template), "t")
    assert not chat.takes_system
    turn = template()["system"] + "\n " + user_turn(*EXAMPLE)
    expected = f"<|im_start|>user\n{turn}<|im_end|>\n<|im_start|>assistant\n"
    assert chat.text(*EXAMPLE) == expected


def test_with_a_system_role_there_are_two_turns():
    assert CHATS["byte-level"].text(*EXAMPLE) == (
        f"<|im_start|>system\n{template()['system']}<|im_end|>\n"
        f"<|im_start|>user\n{user_turn(*EXAMPLE)}<|im_end|>\n<|im_start|>assistant\n"
    )


def test_the_begin_token_is_there_once():
    tokenizer = sentencepiece_tokenizer()
    begin = tokenizer.bos_token_id
    without = ChatPrompt(tokenizer, "t").ids(*EXAMPLE)
    tokenizer.chat_template = "{{ bos_token }}" + tokenizer.chat_template
    written = ChatPrompt(tokenizer, "t").ids(*EXAMPLE)
    assert without[0] == written[0] == begin
    assert without.count(begin) == written.count(begin) == 1
    # A tokenizer that puts nothing in front gets nothing.
    chat = CHATS["byte-level"]
    assert chat.ids(*EXAMPLE) == chat.plain_ids(chat.text(*EXAMPLE))


HOSTILE = st.lists(
    st.sampled_from(["</s>", "<s>", "<|im_end|>", "<|im_start|>", "<", "a ", "[B]"])
).map("".join)


@given(st.sampled_from(sorted(CHATS)), st.lists(HOSTILE, min_size=2, max_size=4))
def test_no_text_brings_control_tokens_or_identifiers_in(name, texts):
    chat = CHATS[name]
    query, *passages = texts
    ids = fitted_prompt(chat, query, passages, 300, ROOM, "q").ids
    harmless = fitted_prompt(chat, "", [""] * len(passages), 300, ROOM, "q").ids
    assert controls(chat, ids) == controls(chat, harmless)
    # The only bracketed letters are the marks of the passages and the example of an answer.
    marks = re.findall(r"\[\w\]", chat.tokenizer.decode(ids))
    assert marks == [f"[{letter}]" for letter in [*LETTERS[: len(passages)], "B", "A"]]


def test_an_added_word_is_no_control_token():
    chat = CHATS["byte-level"]
    assert "covid" in chat.tokenizer.get_added_vocab()
    ids = fitted_prompt(chat, "covid", ["covid covid"], 300, ROOM, "q").ids
    assert "[A] covid covid\n" in chat.tokenizer.decode(ids)


def test_a_control_token_in_another_spelling_is_named():
    tokenizer = byte_level_tokenizer()
    tokenizer.backend_tokenizer.normalizer = normalizers.NFKC()
    tokenizer.add_tokens([AddedToken("<tool>", normalized=True)])
    chat = ChatPrompt(tokenizer, "some folder")
    assert fitted_prompt(chat, "q", ["<tool>"], 300, ROOM, "query 'q7'")
    with pytest.raises(DataError, match=r"query 'q7': a text holds a control token.*some folder"):
        fitted_prompt(chat, "q", ["＜tool＞"], 300, ROOM, "query 'q7'")


def test_a_window_that_fits_keeps_its_words(chat):
    passages = ["one two three four", "five six"]
    prompt = fitted_prompt(chat, "q", passages, 3, ROOM, "q")
    assert prompt.words == 3
    assert prompt.ids == chat.ids("q", ["one two three", "five six"])
    exactly = fitted_prompt(chat, "q", passages, 3, len(prompt.ids), "q")
    assert exactly == prompt


@pytest.mark.parametrize("word", ["w{}", "pneumonoultramicro{}"])
def test_a_window_that_is_too_long_cuts_all_its_passages_alike(chat, word):
    passages = [f"{word.format(number)} " * 200 for number in range(4)] + ["short"]
    room = len(chat.ids("q", passages)) - 500
    prompt = fitted_prompt(chat, "q", passages, 300, room, "q")
    # The public rule, step by step.
    words = 300
    while True:
        ids = chat.ids("q", [" ".join(text.split()[:words]) for text in passages])
        if len(ids) <= room:
            break
        words -= max(1, (len(ids) - room) // (4 * len(passages)))
    assert words < 200
    assert (prompt.ids, prompt.words) == (ids, words)


def test_a_text_without_spaces_is_cut_until_it_fits(chat):
    passages = ["数" * 3000, "x" * 30_000, "\u0e01" * 3000]
    prompt = fitted_prompt(chat, "q", passages, 300, 1000, "q")
    assert len(prompt.ids) <= 1000
    assert 1 <= prompt.words < 300


def test_a_window_that_cannot_fit_is_named(chat):
    query, passages = "a word" * 500, ["one two", "two three"]
    least = len(chat.ids(query, ["one", "two"]))
    place = "query 'q7', window that begins with document 'd3'"
    assert fitted_prompt(chat, query, passages, 300, least, place).words == 1
    with pytest.raises(DataError, match=r"query 'q7'.*'d3'.* 1 tokens too long.*2 passages"):
        fitted_prompt(chat, query, passages, 300, least - 1, place)


def test_the_hash_tells_wording_and_chat_template():
    turn = template()["system"] + "\n" + user_turn(*EXAMPLE)
    assert prompt_hash() == hashlib.sha256(turn.encode()).hexdigest()
    hashes = {prompt_hash(), *(prompt_hash(chat) for chat in CHATS.values())}
    assert len(hashes) == 3
    assert prompt_hash(CHATS["byte-level"]) == prompt_hash(ChatPrompt(byte_level_tokenizer(), "x"))
