/**
 * Looks up references and writes results as JSON, without an object for a row or a result.
 *
 * <pre>
 * body ─▶ PlainBatch ─▶ LookUp in the table ─▶ InternalResultWriter or PublicResultWriter ─▶ JsonOut
 * </pre>
 */
@NullMarked
package dev.puri.resolver.answer;

import org.jspecify.annotations.NullMarked;
