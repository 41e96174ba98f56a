package dev.puri.schemas.collection;

import java.util.List;
import java.util.stream.Collectors;

/** The result of {@link Declarations#plan}: the changes, or the conflicts that prevent them. */
public sealed interface DeclarationResult {
    /**
     * The new declarations have no conflicts.
     *
     * @param writes the new declarations that differ from the existing ones, in the order of the new declarations; may
     *     be empty
     * @param before all declarations before the writes
     * @param after all declarations after the writes
     */
    record Changes(List<Declaration> writes, Declarations before, Declarations after) implements DeclarationResult {
        public Changes {
            writes = List.copyOf(writes);
        }
    }

    /**
     * The new declarations have conflicts, so none of them may be written.
     *
     * @param conflicts at least one conflict, in the order of the new declarations
     */
    record Conflicts(List<Conflict> conflicts) implements DeclarationResult {
        public Conflicts {
            conflicts = List.copyOf(conflicts);
        }

        /** Returns one conflict per line. */
        @Override
        public String toString() {
            return conflicts.stream().map(Conflict::toString).collect(Collectors.joining("\n"));
        }
    }

    /**
     * A reason why a declaration cannot be written.
     *
     * @param key the key of the collection or namespace
     * @param field the name of the field in the YAML file
     * @param why the broken rule and the conflicting declaration
     */
    record Conflict(String key, String field, String why) {
        @Override
        public String toString() {
            return key + ": " + field + ": " + why;
        }
    }
}
