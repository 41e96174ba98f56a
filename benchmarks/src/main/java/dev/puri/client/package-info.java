/** Baselines that need a class of the client which is not public. */
@NullMarked
package dev.puri.client;

import org.jspecify.annotations.NullMarked;
