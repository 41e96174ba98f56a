package dev.puri.cli.verify;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One comparison: of a copy, or of a partition of a copy. It is completed as a whole, or repeated. */
public interface Check {
    /** Returns the part of the verification, for example {@code resolver}. */
    String part();

    /** Returns what is compared: a topic, a URL or a folder. */
    String copy();

    /** Returns the compared partition; null if all partitions are compared together. */
    @Nullable
    Integer partition();

    /** Returns the approximate number of records that will be read; 0 if it is unknown. */
    long records();

    /**
     * Compares, and passes each difference to the consumer.
     *
     * @throws VerifyException if the comparison cannot be completed
     */
    Result run(Consumer<Difference> differences);

    /** Whether a registry with events must have rows to compare, so that a comparison of none is a failure. */
    default boolean mustHaveRows() {
        return true;
    }

    /** Returns a name that distinguishes the check from the other ones of a verification. */
    default String name() {
        return part() + ' ' + copy() + (partition() == null ? "" : "-" + partition());
    }

    /**
     * The result of a completed check.
     *
     * @param rows number of keys that were compared
     * @param expectedRows number of keys that the source has
     * @param notCompared number of keys that could not be compared
     * @param note which keys were not compared; null if all were
     */
    record Result(
            long rows,
            long expectedRows,
            long notCompared,
            @Nullable Note note) {}

    /** A remark about a number of rows. */
    record Note(
            @JsonProperty("rows") long rows,
            @JsonProperty("what") String what) {
        /** Returns a note; null if there are no such rows. */
        public static @Nullable Note of(long rows, String what) {
            return rows == 0 ? null : new Note(rows, what);
        }

        /** Returns a note of rows that could not be compared; null if there are no such rows. */
        public static @Nullable Note ofChanged(long rows) {
            return of(rows, "changed in each of several comparisons");
        }

        @Override
        public String toString() {
            return rows + " rows " + what;
        }
    }
}
