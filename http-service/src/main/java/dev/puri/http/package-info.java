/** What every server of the registry shares: listeners, access, problems, health, metrics. */
@NullMarked
package dev.puri.http;

import org.jspecify.annotations.NullMarked;
