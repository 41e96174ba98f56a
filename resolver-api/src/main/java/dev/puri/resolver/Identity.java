package dev.puri.resolver;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;

/** A row under its name. */
record Identity(Puri puri, Row row) {}
