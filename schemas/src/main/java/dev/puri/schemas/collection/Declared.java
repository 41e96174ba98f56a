package dev.puri.schemas.collection;

import java.util.List;
import java.util.stream.Collectors;

/** The result of {@link Declarations#declare}: all changes, or all conflicts and no change. */
public sealed interface Declared {
    /**
     * There are no conflicts.
     *
     * @param writes the declarations that differ from the existing ones, in the given order; may be empty
     * @param after all declarations after these are written
     */
    record Changes(List<Declaration> writes, Declarations after) implements Declared {
        public Changes {
            writes = List.copyOf(writes);
        }
    }

    /**
     * There are conflicts, and nothing may be written.
     *
     * @param conflicts at least one, in the order of the given declarations
     */
    record Conflicts(List<Conflict> conflicts) implements Declared {
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
     * Why a declaration cannot be written.
     *
     * @param key the key of the collection or namespace
     * @param field the field, as named in the YAML file
     * @param why the rule, and the conflicting declaration
     */
    record Conflict(String key, String field, String why) {
        @Override
        public String toString() {
            return key + ": " + field + ": " + why;
        }
    }
}
