"""The MCP server at `/mcp`: the tools of an organisation for agents, over streamable HTTP, with its API keys."""
