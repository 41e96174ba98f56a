/** Names as columns, ids too, by Hibernate 6.6 and 7. */
@NullMarked
package dev.puri.client.storage.hibernate;

import org.jspecify.annotations.NullMarked;
