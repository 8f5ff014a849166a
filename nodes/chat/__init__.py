"""Nodes of a chat turn, in the order in which they run: validate, record, route, enhance, (retrieve), check, compose,
invoke, record the answer. Pure helpers stand beside them: `prompt`, `citations`, `delivery`, `history`, `budget`,
`fitting`, `messages`; and what `invoke` is made of: `loading`, `answering`, `stopping`."""
