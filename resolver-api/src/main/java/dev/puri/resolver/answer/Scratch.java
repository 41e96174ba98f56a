package dev.puri.resolver.answer;

/** What an event loop reads requests and writes answers with, one after the other. */
public record Scratch(PlainBatch batch, JsonOut written) {
    private static final ThreadLocal<Scratch> OF_THREAD =
            ThreadLocal.withInitial(() -> new Scratch(new PlainBatch(), new JsonOut()));

    /** This thread's own. */
    public static Scratch ofThread() {
        return OF_THREAD.get();
    }

    /** To be written anew; what was written before is gone. */
    public JsonOut out() {
        return written.clear();
    }
}
