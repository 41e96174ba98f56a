package dev.puri.resolver.answer;

/** Objects that a thread reuses to parse requests and to write responses, one after the other. */
public record ThreadBuffers(PlainBatch batch, JsonOut out) {
    private static final ThreadLocal<ThreadBuffers> OF_THREAD =
            ThreadLocal.withInitial(() -> new ThreadBuffers(new PlainBatch(), new JsonOut()));

    /** Returns the objects of this thread. */
    public static ThreadBuffers ofThread() {
        return OF_THREAD.get();
    }

    /** Returns the buffer for a response, emptied. */
    public JsonOut emptyOut() {
        return out.clear();
    }
}
