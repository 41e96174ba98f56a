package dev.puri.resolver.answer;

/** The objects with which an event loop parses requests and writes responses, one after the other. */
public record Scratch(PlainBatch batch, JsonOut written) {
    private static final ThreadLocal<Scratch> OF_THREAD =
            ThreadLocal.withInitial(() -> new Scratch(new PlainBatch(), new JsonOut()));

    /** Returns the objects of this thread. */
    public static Scratch ofThread() {
        return OF_THREAD.get();
    }

    /** Returns the emptied buffer. */
    public JsonOut out() {
        return written.clear();
    }
}
