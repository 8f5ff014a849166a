"""Where the branches of all knowledge bases meet."""

import asyncio
from uuid import UUID

from langgraph.runtime import Runtime

from nodes.chat.state import CallerOf, Context
from nodes.retrieval.ranking import by_knowledge_base, merge, needs_terms, rerank
from nodes.retrieval.sharing import QuestionSearch
from nodes.retrieval.state import KnowledgeBaseRef, RetrievalState, SearchPlan, weights_of
from tributary.domain.errors import DependencyError
from tributary.domain.retrieval import TOO_SLOW, Branch, Degradation, Hit


async def merge_and_rerank(
    state: RetrievalState, runtime: Runtime[Context], *, caller: CallerOf, questions: QuestionSearch, patience: float
) -> RetrievalState:
    """One hit a chunk, all terms filled, the best five by the bot's weights. `patience`: seconds that the missing terms
    may take."""
    plan = state["plan"]
    hits = merge(state.get("hits", []))
    found, degraded = await _judged(hits, plan, caller(runtime), questions, patience)
    questions.forget(plan)
    return {"ranked": rerank(merge([*hits, *found]), weights_of(plan)), "degraded": degraded}


async def _judged(
    hits: list[Hit], plan: SearchPlan, organisation: UUID, questions: QuestionSearch, patience: float
) -> tuple[list[Hit], list[Degradation]]:
    """The vector and text terms of hits that only the image or the graph branch found: one call for each knowledge
    base that has any. Where that fails the hits keep the terms that they have."""
    waiting = by_knowledge_base([hit for hit in hits if needs_terms(hit)]) if plan["query"].strip() else {}
    bases = {base["id"]: base for base in plan["knowledgeBases"]}

    async def judge(base: KnowledgeBaseRef, unjudged: list[Hit]) -> list[Hit] | Degradation:
        try:
            chunk_ids = [UUID(hit["chunkId"]) for hit in unjudged]
            async with asyncio.timeout(patience):
                return list(await questions.score(organisation, plan, base, chunk_ids))
        except (DependencyError, TimeoutError) as error:
            reason = error.detail if isinstance(error, DependencyError) else TOO_SLOW
            return Degradation(branch=Branch.TEXT.value, knowledgeBaseId=base["id"], reason=reason)

    results = await asyncio.gather(*(judge(bases[kb_id], group) for kb_id, group in waiting.items()))
    judged = [hit for result in results if isinstance(result, list) for hit in result]
    return judged, [result for result in results if not isinstance(result, list)]
