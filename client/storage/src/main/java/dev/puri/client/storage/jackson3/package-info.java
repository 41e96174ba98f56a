/** Converts pURIs, handles and similar types to JSON strings and back, with Jackson 3. */
@NullMarked
package dev.puri.client.storage.jackson3;

import org.jspecify.annotations.NullMarked;
