/**
 * Reads YAML files with declarations of namespaces and collections:
 *
 * <pre>{@code
 * try (Reader text = Files.newBufferedReader(Path.of("collections.yaml"))) {
 *     List<Declaration> declarations = CollectionsFile.read("collections.yaml", text);
 * }
 * }</pre>
 */
@NullMarked
package dev.puri.client.declarations;

import org.jspecify.annotations.NullMarked;
