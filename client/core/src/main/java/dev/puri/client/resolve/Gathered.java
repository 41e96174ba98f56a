package dev.puri.client.resolve;

/**
 * What became of one item of a list.
 *
 * @param <R> what the caller reads from a shard
 */
public sealed interface Gathered<R> {
    /** What the resolver said of it. */
    Verdict verdict();

    /** Its row was read. */
    record Row<R>(Verdict verdict, R row) implements Gathered<R> {}

    /**
     * Its shard was asked and has no such row. It may have moved since the resolver was asked, or the service has not
     * written it yet.
     */
    record NoRow<R>(Verdict verdict) implements Gathered<R> {}

    /** Its shard could not be asked. */
    record Failed<R>(Verdict verdict, Throwable error) implements Gathered<R> {}

    /** No shard has it, or none is known to; the verdict says why. */
    record Unplaced<R>(Verdict verdict) implements Gathered<R> {}
}
