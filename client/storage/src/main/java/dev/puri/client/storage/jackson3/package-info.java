/** Names as JSON strings, by Jackson 3. */
@NullMarked
package dev.puri.client.storage.jackson3;

import org.jspecify.annotations.NullMarked;
