/** Real servers for tests (broker, schema registry, OpenSearch), and clients that check HTTP responses. */
@NullMarked
package dev.puri.testkit;

import org.jspecify.annotations.NullMarked;
