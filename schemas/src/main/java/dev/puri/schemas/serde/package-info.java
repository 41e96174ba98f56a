/** Serializes and deserializes Avro records in Confluent's wire format, with schemas from a schema registry. */
@NullMarked
package dev.puri.schemas.serde;

import org.jspecify.annotations.NullMarked;
