package dev.puri.client.resolve;

/**
 * The result for one item of a list.
 *
 * @param <R> a row
 */
public sealed interface Gathered<R> {
    /** The resolver's verdict on it. */
    Verdict verdict();

    /** Its row was read. */
    record Row<R>(Verdict verdict, R row) implements Gathered<R> {}

    /**
     * Its shard has no such row. The row may have moved since the resolver answered, or the service has not written it yet.
     */
    record NoRow<R>(Verdict verdict) implements Gathered<R> {}

    /** The query of its shard failed. */
    record Failed<R>(Verdict verdict, Throwable error) implements Gathered<R> {}

    /** No shard is known to have it; the verdict says why. */
    record Unplaced<R>(Verdict verdict) implements Gathered<R> {}
}
