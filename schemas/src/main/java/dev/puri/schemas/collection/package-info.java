/** Declarations of collections and namespaces. */
@NullMarked
package dev.puri.schemas.collection;

import org.jspecify.annotations.NullMarked;
