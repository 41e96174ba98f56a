/** Converts pURIs, handles and similar types in parameters and properties of Spring. */
@NullMarked
package dev.puri.client.storage.spring;

import org.jspecify.annotations.NullMarked;
