/** Avro in the Confluent wire format. */
@NullMarked
package dev.puri.schemas.serde;

import org.jspecify.annotations.NullMarked;
