/** The contents of the topics: events, rows, documents, outcomes, refusals and positions. */
@NullMarked
package dev.puri.schemas.log;

import org.jspecify.annotations.NullMarked;
