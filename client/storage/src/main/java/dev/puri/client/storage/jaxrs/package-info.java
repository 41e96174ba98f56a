/** Converts pURIs, handles and similar types in parameters of Jakarta REST. */
@NullMarked
package dev.puri.client.storage.jaxrs;

import org.jspecify.annotations.NullMarked;
