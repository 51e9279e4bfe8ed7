"""The paraphrase-MiniLM-L3 encoder, from the ONNX file of its package to a BERT body.

All weights keep their names in the ONNX graph except the 18 matrices of the linear layers: there
the node's name gives the layer, and the matrix is stored transposed.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from posbias.errors import AssetError

if TYPE_CHECKING:
    import torch
    from transformers import BertModel

_PREFIX = "model.0.auto_model."
_NODE = re.compile(r"layer\.(\d+)/(.*)/MatMul")


def weights_from_onnx(path: Path) -> dict[str, "torch.Tensor"]:
    """Return the weights by the names that transformers' BertModel gives them."""
    import onnx
    import torch
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    stored = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    weights = {
        name.removeprefix(_PREFIX): torch.tensor(value)
        for name, value in stored.items()
        if name.startswith(_PREFIX)
    }
    for node in graph.node:
        match = _NODE.search(node.name)
        if node.op_type == "MatMul" and match and node.input[1] in stored:
            layer, module = match[1], match[2].replace("/", ".")
            weights[f"encoder.layer.{layer}.{module}.weight"] = torch.tensor(
                stored[node.input[1]].T.copy()
            )
    return weights


def paraphrase_body(path: Path) -> "BertModel":
    """Build the 3-layer BERT body; raises AssetError if weights are missing or left over."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=30522,
        hidden_size=384,
        num_hidden_layers=3,
        num_attention_heads=12,
        intermediate_size=1536,
        max_position_embeddings=512,
    )
    body = BertModel(config)
    result = body.load_state_dict(weights_from_onnx(path), strict=False)
    missing = [name for name in result.missing_keys if not name.startswith("pooler.")]
    if missing or result.unexpected_keys:
        raise AssetError(
            f"{path}: not the expected ONNX export; missing {missing}, "
            f"unexpected {result.unexpected_keys}."
        )
    # The export has no pooler, and mean pooling uses none: zeros rather than random numbers.
    for parameter in body.pooler.parameters():
        parameter.data.zero_()
    return body.eval()
