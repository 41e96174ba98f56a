/** The contents of the topics: events, rows, outcomes, positions. */
@NullMarked
package dev.puri.schemas.log;

import org.jspecify.annotations.NullMarked;
