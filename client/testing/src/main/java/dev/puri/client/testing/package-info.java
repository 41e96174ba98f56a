/**
 * Runs an identity registry, or a fake of it, in the tests of services.
 *
 * <pre>
 * {@link dev.puri.client.testing.RegistryTest @RegistryTest} ──▶ {@link dev.puri.client.testing.Registry}
 *                        ├── a process of client-testing-stack (Java 25, its own class path)
 *                        └── containers, if Docker is selected
 * {@link dev.puri.client.testing.InMemoryRegistry} ──▶ a fake: no process, no Kafka, the same rules
 * </pre>
 *
 * A registry is complete and is started once for each JVM.
 */
@NullMarked
package dev.puri.client.testing;

import org.jspecify.annotations.NullMarked;
