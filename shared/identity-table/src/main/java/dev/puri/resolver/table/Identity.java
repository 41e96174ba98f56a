package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;

/** A pURI and its row. */
public record Identity(Puri puri, Row row) {}
