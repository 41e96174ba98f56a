package dev.puri.schemas.collection;

import java.util.List;
import java.util.stream.Collectors;

/** What comes of declaring: every change, or every conflict and no change. */
public sealed interface Declared {
    /**
     * Nothing stands in the way.
     *
     * @param writes what differs from what stands, in the order it was given; may be empty
     * @param after everything that is declared once they are written
     */
    record Changes(List<Declaration> writes, Declarations after) implements Declared {
        public Changes {
            writes = List.copyOf(writes);
        }
    }

    /**
     * Nothing may be written.
     *
     * @param conflicts all of them, at least one, in the order of what was given
     */
    record Conflicts(List<Conflict> conflicts) implements Declared {
        public Conflicts {
            conflicts = List.copyOf(conflicts);
        }

        /** One conflict a line. */
        @Override
        public String toString() {
            return conflicts.stream().map(Conflict::toString).collect(Collectors.joining("\n"));
        }
    }

    /**
     * Why one declaration cannot stand.
     *
     * @param key the collection's or namespace's
     * @param field what of it, by the name that it has in the YAML file
     * @param why the rule, and who stands in the way
     */
    record Conflict(String key, String field, String why) {
        @Override
        public String toString() {
            return key + ": " + field + ": " + why;
        }
    }
}
