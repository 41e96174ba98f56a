/** Converts pURIs, handles and similar types to JSON strings and back, with Jackson 2. */
@NullMarked
package dev.puri.client.storage.jackson;

import org.jspecify.annotations.NullMarked;
