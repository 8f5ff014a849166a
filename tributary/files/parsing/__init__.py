"""Parsers of the documents that a knowledge base takes. Each is a module-level function from a path to a
`ParsedDocument`, so that it can run in the sandbox: a process with limits that can be killed."""
