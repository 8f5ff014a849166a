"""Writing ONNX graphs operator by operator."""

from typing import Any

import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

#: The operators that ONNX Runtime adds to the standard: joined ones that would take several of the standard's.
_CONTRIBUTED = "com.microsoft"


class GraphWriter:
    """A graph that grows. Values are known by their names, which operators return."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """A value that is part of the graph. The same name may be given again, for the same value."""
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(value, name)
        return name

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """An operator of the standard with one output."""
        return self._append(operator, inputs, output, "", attributes)

    def add_contributed(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """An operator of ONNX Runtime with one output."""
        return self._append(operator, inputs, "", _CONTRIBUTED, attributes)

    def model(self, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]) -> onnx.ModelProto:
        """The finished model."""
        graph = helper.make_graph(self._nodes, "network", inputs, outputs, list(self._constants.values()))
        imports = [helper.make_opsetid("", 20), helper.make_opsetid(_CONTRIBUTED, 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)

    def _append(
        self, operator: str, inputs: tuple[str, ...], output: str, domain: str, attributes: dict[str, Any]
    ) -> str:
        output = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output
