package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;

/** The current state of an identity: its pURI and its row of {@code puri.identities.v1}. */
public record Identity(Puri puri, Row row) {}
