/** Stores pURIs and handles, also as ids, with Hibernate 6.6 and 7. */
@NullMarked
package dev.puri.client.storage.hibernate;

import org.jspecify.annotations.NullMarked;
