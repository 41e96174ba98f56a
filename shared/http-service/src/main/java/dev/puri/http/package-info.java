/** The HTTP parts that all servers use: listeners, access control, problems, health and metrics. */
@NullMarked
package dev.puri.http;

import org.jspecify.annotations.NullMarked;
