"""The network of multilingual-e5-small as an ONNX graph that multiplies in int8.

Weights have one scale an output. Activations are quantised as they come, with one scale a token: with a scale for the
whole batch, as ONNX Runtime's own dynamic quantisation has it, a text's vector would depend on the texts beside it,
and the outliers behind the GELU would cost three times the accuracy. Bias, GELU and layer norms stay in float32.

Inputs: `words` (batch, tokens, hidden), the rows of the word table; `lengths` (batch,) int32, the tokens that are no
padding. Output: `vectors` (batch, hidden), the mean over the tokens, not yet of unit length.
"""

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from tributary.models.local.e5.blocks import quantise_rows
from tributary.models.local.e5.graph_writer import GraphWriter
from tributary.models.local.e5.weights import Weights

#: Where zero lies on the scale of quantised activations, which are unsigned: the fast kernels want them so.
_ZERO = 128


def build_graph(weights: Weights) -> onnx.ModelProto:
    """The whole network. Raises `DamagedWeights` when a tensor is missing."""
    network = _Network(weights)
    states = network.embeddings()
    for layer in range(weights.dimensions.layers):
        states = network.layer(states, f"l{layer}")
    network.pool(states)
    hidden = weights.dimensions.hidden
    return network.graph.model(
        inputs=[
            helper.make_tensor_value_info("words", TensorProto.FLOAT, ["batch", "tokens", hidden]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"]),
        ],
        outputs=[helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", hidden])],
    )


class _Network:
    """Adds the network's parts to a graph. Between the parts, states are `(batch · tokens, hidden)`."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._size = weights.dimensions
        self.graph = graph = GraphWriter()
        #: (batch, tokens), and behind them what makes one array of all tokens three-dimensional again.
        self._batch_shape = graph.add("Shape", "words", start=0, end=2)
        self._states_shape = graph.add(
            "Concat", self._batch_shape, graph.constant("hidden", np.array([self._size.hidden])), axis=0
        )
        self._flat_shape = graph.constant("flat", np.array([-1, self._size.hidden]))
        self._last_axis = graph.constant("last_axis", np.array([-1]))
        self._token_axis = graph.constant("token_axis", np.array([1]))
        self._zero_of_each = graph.constant("zero_of_each", np.array([_ZERO], np.uint8))
        self._zero = graph.constant("zero", np.array(_ZERO, np.uint8))
        self._one = graph.constant("one", np.array(1, np.float32))
        self._step = graph.constant("step", np.array(1 / 127, np.float32))
        self._smallest = graph.constant("smallest", np.array(1e-9, np.float32))

    def embeddings(self) -> str:
        """Words, positions and the only token type that is used, normalised."""
        graph, hidden = self.graph, self._size.hidden
        positions = self._weights.vector("emb.pos").reshape(-1, hidden)
        positions += self._weights.vector("emb.type")[:hidden]
        tokens = graph.add("Shape", "words", start=1, end=2)
        first = graph.constant("first", np.array([0]))
        used = graph.add("Slice", graph.constant("positions", positions), first, tokens, first)
        states = graph.add("Reshape", graph.add("Add", "words", used), self._flat_shape)
        return self._normalise(states, "emb.ln")

    def layer(self, states: str, name: str) -> str:
        """Attention and feed-forward, each added to what came in and normalised."""
        graph = self.graph
        attended = self._linear(self._attention(states, name), f"{name}.ao", self._size.hidden)
        states = self._normalise(graph.add("Add", states, attended), f"{name}.aln")
        inner = graph.add("Gelu", self._linear(self._quantise(states), f"{name}.fi", self._size.hidden))
        outer = self._linear(self._quantise(inner), f"{name}.fo", self._size.feed_forward)
        return self._normalise(graph.add("Add", states, outer), f"{name}.oln")

    def pool(self, states: str) -> None:
        """The mean of the states that are no padding, as the graph's output."""
        graph = self.graph
        tokens = graph.add("Squeeze", graph.add("Shape", "words", start=1, end=2))
        zero, one = graph.constant("range_from", np.array(0)), graph.constant("range_step", np.array(1))
        places = graph.add("Cast", graph.add("Range", zero, tokens, one), to=TensorProto.INT32)
        counts = graph.add("Unsqueeze", "lengths", self._token_axis)
        real = graph.add("Cast", graph.add("Less", places, counts), to=TensorProto.FLOAT)
        kept = graph.add(
            "Mul",
            graph.add("Reshape", states, self._states_shape),
            graph.add("Unsqueeze", real, self._last_axis),
        )
        total = graph.add("ReduceSum", kept, self._token_axis, keepdims=0)
        graph.add("Div", total, graph.add("Cast", counts, to=TensorProto.FLOAT), output="vectors")

    def _attention(self, states: str, name: str) -> tuple[str, str]:
        graph, hidden = self.graph, self._size.hidden
        quantised = self._quantise(states)
        parts = [
            graph.add("Reshape", self._product(quantised, f"{name}.{part}", hidden), self._states_shape)
            for part in ("q", "k", "v")
        ]
        bias = np.concatenate([self._weights.vector(f"{name}.{part}.b") for part in ("q", "k", "v")])
        context = graph.add_contributed(
            "MultiHeadAttention",
            *parts,
            graph.constant(f"{name}.qkv.b", bias),
            "lengths",
            num_heads=self._size.heads,
        )
        return self._quantise(graph.add("Reshape", context, self._flat_shape))

    def _normalise(self, states: str, name: str) -> str:
        scale, bias = (self.graph.constant(f"{name}.{part}", self._weights.vector(f"{name}.{part}")) for part in "wb")
        return self.graph.add("LayerNormalization", states, scale, bias, epsilon=self._weights.epsilon)

    def _linear(self, quantised: tuple[str, str], name: str, inputs: int) -> str:
        bias = self.graph.constant(f"{name}.b", self._weights.vector(f"{name}.b"))
        return self.graph.add("Add", self._product(quantised, name, inputs), bias)

    def _product(self, quantised: tuple[str, str], name: str, inputs: int) -> str:
        """Quantised states times the matrix of that name, in float32 and without its bias."""
        states, scales = quantised
        matrix, matrix_scales = quantise_rows(self._weights.matrix(f"{name}.w", inputs))
        zeros: NDArray[np.int8] = np.zeros(len(matrix_scales), dtype=np.int8)
        product = self.graph.add_contributed(
            "MatMulIntegerToFloat",
            states,
            self.graph.constant(f"{name}.w", np.ascontiguousarray(matrix.T)),
            self._one,
            self.graph.constant(f"{name}.scales", matrix_scales),
            self._zero,
            self.graph.constant(f"{name}.zeros", zeros),
        )
        return self.graph.add("Mul", product, scales)

    def _quantise(self, states: str) -> tuple[str, str]:
        """States as uint8 around 128, and the scale of each token `(batch · tokens, 1)`."""
        graph = self.graph
        highest = graph.add("ReduceMax", states, self._last_axis, keepdims=0)
        lowest = graph.add("Neg", graph.add("ReduceMin", states, self._last_axis, keepdims=0))
        scales = graph.add("Mul", graph.add("Max", highest, lowest, self._smallest), self._step)
        zeros = graph.add("Expand", self._zero_of_each, graph.add("Shape", scales))
        quantised = graph.add("QuantizeLinear", states, scales, zeros, axis=0)
        return quantised, graph.add("Unsqueeze", scales, self._last_axis)
