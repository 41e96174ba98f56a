/** The rules by which events change identities. The topology that applies the rules is in the same package. */
@NullMarked
package dev.puri.registry;

import org.jspecify.annotations.NullMarked;
