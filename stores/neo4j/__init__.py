"""The knowledge graph on Neo4j 5, through its official driver. Names reach Cypher as parameters only."""
