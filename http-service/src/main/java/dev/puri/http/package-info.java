/** What every server of the registry shares: settings, problems, health, metrics, listeners. */
@NullMarked
package dev.puri.http;

import org.jspecify.annotations.NullMarked;
