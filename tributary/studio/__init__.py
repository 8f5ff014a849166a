"""LangGraph's own server over our services: what `langgraph.json` names for LangGraph Studio and for deployments."""
