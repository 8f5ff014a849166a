"""The steps of ingestion: parse, split, embed, summarise, extract, index."""
