package dev.puri.client.resolve;

/**
 * The result of {@link Scatter#gather} for one reference.
 *
 * @param <R> type of a row
 */
public sealed interface Gathered<R> {
    /** The resolver's verdict on the reference. */
    Verdict verdict();

    /** The row was read. */
    record Row<R>(Verdict verdict, R row) implements Gathered<R> {}

    /**
     * The shard does not have the row. The row may have moved since the resolver answered, or the service has not
     * written it yet.
     */
    record NoRow<R>(Verdict verdict) implements Gathered<R> {}

    /** The query of the shard failed. */
    record Failed<R>(Verdict verdict, Throwable error) implements Gathered<R> {}

    /** No row was read, because the verdict has no placement. */
    record Unplaced<R>(Verdict verdict) implements Gathered<R> {}
}
