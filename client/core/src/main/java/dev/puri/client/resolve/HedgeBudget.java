package dev.puri.client.resolve;

/** Bounds second requests to a share of all requests, with a small burst after a quiet time. */
final class HedgeBudget {
    private static final double MAX_SAVED = 10;

    private final double share;
    private double saved = 1;

    /**
     * @param share second requests that each request allows
     */
    HedgeBudget(double share) {
        this.share = share;
    }

    synchronized void requestSent() {
        saved = Math.min(MAX_SAVED, saved + share);
    }

    synchronized boolean take() {
        if (saved < 1) {
            return false;
        }
        saved--;
        return true;
    }
}
