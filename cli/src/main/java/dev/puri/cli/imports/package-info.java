/** {@code puri import}: reads rows of other databases, checks them, and publishes their identities. */
@NullMarked
package dev.puri.cli.imports;

import org.jspecify.annotations.NullMarked;
