"""Renders the demo's PDF, `tributary/demo/documents/how-answers-are-found.pdf`. Run it after changing the texts below:

.venv/bin/python docs/make_guide.py
"""

from pathlib import Path

from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer

TARGET = Path(__file__).parent.parent / "tributary/demo/documents/how-answers-are-found.pdf"

PAGES = (
    (
        "How Tributary finds its answers",
        (
            "A question goes into every knowledge base that is linked to the bot, by four ways at the same time: text "
            "search, image search, the map of documents, and the knowledge graph.",
            "Text search compares the meaning of the question with the meaning of each chunk, by vectors, and its words "
            "with the words of each chunk, by BM25. Image search looks for pictures that resemble an attached one. The map "
            "lists what the knowledge base holds. Graph search finds the entities that the question names and walks one "
            "or two steps along their relations.",
            "A way that fails or is too slow is left out. The answer still comes, and its field degraded says what is "
            "missing and why.",
        ),
    ),
    (
        "The score of a chunk",
        (
            "The score of a chunk is put together from three terms: 60 percent vector similarity, 25 percent text "
            "relevance, and 15 percent importance. Each term lies between 0 and 1. The weights are settings of a bot.",
            "The importance of a document is 0.5 unless somebody sets another value. Facts of the knowledge graph bring "
            "the passages behind them into the pool and raise their vector term.",
            "The five best chunks of all knowledge bases become the numbered sources of the answer. The same numbers stand "
            "in the prompt, in the text, in the stream and in the history.",
        ),
    ),
    (
        "What the model sees",
        (
            "The model gets the bot's prompt, the map of available knowledge, the five chunks with their numbers, the facts "
            "of the knowledge graph, the conversation so far, and the question with its files.",
            "Text from documents is data. It can't close a section of the prompt, forge the number of a source, or give "
            "orders to the model.",
            "Without any key, a built-in model answers. It picks the sentences that support an answer best, names their "
            "sources, and says that it is the local default.",
        ),
    ),
)


def main() -> None:
    styles = getSampleStyleSheet()
    story: list[object] = []
    for title, paragraphs in PAGES:
        story.append(Paragraph(title, styles["Heading1"]))
        for paragraph in paragraphs:
            story += [Paragraph(paragraph, styles["BodyText"]), Spacer(1, 6)]
        story.append(PageBreak())
    document = SimpleDocTemplate(str(TARGET), pagesize=A5, title=PAGES[0][0], author="Tributary", invariant=1)
    document.build(story[:-1])


if __name__ == "__main__":
    main()
