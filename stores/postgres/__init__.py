"""Every store on PostgreSQL (15 or later, with pgvector 0.8 or later)."""
