/** The rules by which events change identities; the topology that applies them has the same package. */
@NullMarked
package dev.puri.registry;

import org.jspecify.annotations.NullMarked;
