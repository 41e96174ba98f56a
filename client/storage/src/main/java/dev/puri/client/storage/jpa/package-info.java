/** Stores pURIs and handles with Jakarta Persistence. */
@NullMarked
package dev.puri.client.storage.jpa;

import org.jspecify.annotations.NullMarked;
