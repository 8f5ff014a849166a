"""The REST routes: each parses, calls, and answers. Rules live in what they call."""
