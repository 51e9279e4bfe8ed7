"""A local model that judges: it may only fill in yes or no, where it is given the form."""

from typing import TYPE_CHECKING, Any

from posbias.queries.chat import ChatRequest
from posbias.queries.local_lm import LocalLm, _Row
from posbias.queries.reply_form import FormReply

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# As in the forms of query generation, reasons are left out.
FORM = {"answer": ("yes", "no")}


class JudgingLm(LocalLm):
    """A LocalLm whose form is that of a judgement."""

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: "PreTrainedTokenizerBase",
        name: str,
        seed: int,
        fill_form: bool = False,
        **options: Any,
    ) -> None:
        """Options as those of LocalLm."""
        super().__init__(model, tokenizer, name, seed, **options)
        self.form = FORM if fill_form else None
        self.settings["form"] = self.form

    def _row(self, request: ChatRequest) -> _Row:
        row = super()._row(request)
        if self.form is not None:
            row.reply = FormReply(self.tokenizer, row.reply.choose, self.stops, self.form)
            opening = self.tokenizer(row.reply.opening, add_special_tokens=False, verbose=False)
            row.prompt = row.prompt + opening.input_ids
        return row
