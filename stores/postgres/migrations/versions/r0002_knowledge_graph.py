"""The knowledge graph of a knowledge base, with the documents and passages that each fact comes from.

What a document says stands in its own rows (sources, names, mentions); entities and relations are sums over them.
So a document can be taken out exactly, and what others say too survives.
"""

from stores.postgres.migrations.sql import isolate, run

revision = "r0002"
down_revision = "r0001"
branch_labels = None
depends_on = None

ENTITIES = """
CREATE TABLE kg_entities (
    organisation_id   uuid NOT NULL,
    id                uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    -- The resolved form: names that mean the same have one key in a knowledge base.
    key               text COLLATE "C" NOT NULL,
    name              text NOT NULL,
    type              text NOT NULL,
    description       text NOT NULL DEFAULT '',
    -- Sums over the sources: documents and mentions that support it, relations that it takes part in.
    documents         integer NOT NULL DEFAULT 0,
    mentions          integer NOT NULL DEFAULT 0,
    degree            integer NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id),
    UNIQUE (organisation_id, knowledge_base_id, key),
    FOREIGN KEY (organisation_id, knowledge_base_id) REFERENCES knowledge_bases ON DELETE CASCADE
);

CREATE TABLE kg_entity_sources (
    organisation_id   uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    document_id       uuid NOT NULL,
    entity_id         uuid NOT NULL,
    name              text NOT NULL,
    type              text NOT NULL,
    description       text NOT NULL DEFAULT '',
    mentions          integer NOT NULL,
    PRIMARY KEY (organisation_id, document_id, entity_id),
    FOREIGN KEY (organisation_id, knowledge_base_id, document_id)
        REFERENCES documents (organisation_id, knowledge_base_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, entity_id) REFERENCES kg_entities ON DELETE CASCADE
);
CREATE INDEX kg_entity_sources_of_entity ON kg_entity_sources (organisation_id, entity_id);

-- Resolved names and aliases: how a question finds an entity.
CREATE TABLE kg_names (
    organisation_id   uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    name_key          text COLLATE "C" NOT NULL,
    entity_id         uuid NOT NULL,
    document_id       uuid NOT NULL,
    PRIMARY KEY (organisation_id, knowledge_base_id, name_key, entity_id, document_id),
    FOREIGN KEY (organisation_id, document_id, entity_id) REFERENCES kg_entity_sources ON DELETE CASCADE
);
CREATE INDEX kg_names_of_source ON kg_names (organisation_id, document_id, entity_id);

CREATE TABLE kg_mentions (
    organisation_id   uuid NOT NULL,
    chunk_id          uuid NOT NULL,
    entity_id         uuid NOT NULL,
    start_offset      integer NOT NULL,
    end_offset        integer NOT NULL,
    document_id       uuid NOT NULL,
    PRIMARY KEY (organisation_id, chunk_id, entity_id, start_offset),
    FOREIGN KEY (organisation_id, chunk_id) REFERENCES chunks ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, document_id, entity_id) REFERENCES kg_entity_sources ON DELETE CASCADE
);
CREATE INDEX kg_mentions_of_entity ON kg_mentions (organisation_id, entity_id);
CREATE INDEX kg_mentions_of_source ON kg_mentions (organisation_id, document_id, entity_id);
"""

RELATIONS = """
CREATE TABLE kg_relations (
    organisation_id   uuid NOT NULL,
    id                uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    source_id         uuid NOT NULL,
    relation          text NOT NULL,
    target_id         uuid NOT NULL,
    description       text NOT NULL DEFAULT '',
    -- The sum of its sources' weights.
    weight            real NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id),
    UNIQUE (organisation_id, source_id, target_id, relation),
    FOREIGN KEY (organisation_id, source_id) REFERENCES kg_entities ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, target_id) REFERENCES kg_entities ON DELETE CASCADE
);
-- A step of a walk takes the heaviest relations of an entity, in both directions, and no others.
CREATE INDEX kg_relations_outward ON kg_relations (organisation_id, source_id, weight DESC, id);
CREATE INDEX kg_relations_inward ON kg_relations (organisation_id, target_id, weight DESC, id);

CREATE TABLE kg_relation_sources (
    organisation_id   uuid NOT NULL,
    chunk_id          uuid NOT NULL,
    relation_id       uuid NOT NULL,
    document_id       uuid NOT NULL,
    description       text NOT NULL DEFAULT '',
    weight            real NOT NULL CHECK (weight > 0),
    PRIMARY KEY (organisation_id, chunk_id, relation_id),
    FOREIGN KEY (organisation_id, chunk_id) REFERENCES chunks ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, relation_id) REFERENCES kg_relations ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, document_id) REFERENCES documents ON DELETE CASCADE
);
CREATE INDEX kg_relation_sources_of_relation ON kg_relation_sources (organisation_id, relation_id);
CREATE INDEX kg_relation_sources_of_document ON kg_relation_sources (organisation_id, document_id);
"""


def upgrade() -> None:
    run(ENTITIES)
    run(RELATIONS)
    isolate(
        "kg_entities",
        "kg_entity_sources",
        "kg_names",
        "kg_mentions",
        "kg_relations",
        "kg_relation_sources",
    )
