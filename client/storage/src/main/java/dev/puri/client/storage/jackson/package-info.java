/** Names as JSON strings, by Jackson 2. */
@NullMarked
package dev.puri.client.storage.jackson;

import org.jspecify.annotations.NullMarked;
