/** The topology that arbitrates claims and keeps the identities. */
@NullMarked
package dev.puri.registry;

import org.jspecify.annotations.NullMarked;
