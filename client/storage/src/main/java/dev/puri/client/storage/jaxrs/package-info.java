/** Names as parameters of Jakarta REST. */
@NullMarked
package dev.puri.client.storage.jaxrs;

import org.jspecify.annotations.NullMarked;
