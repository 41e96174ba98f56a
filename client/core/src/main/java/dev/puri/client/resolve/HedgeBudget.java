package dev.puri.client.resolve;

/**
 * Limits hedged requests to a share of all requests. Unused allowance is saved, so a small burst of hedged requests is
 * possible.
 */
final class HedgeBudget {
    private static final double MAX_SAVED_REQUESTS = 10;

    private final double share;
    private double savedRequests = 1;

    /**
     * @param share number of hedged requests that each request adds to the budget, such as 0.05
     */
    HedgeBudget(double share) {
        this.share = share;
    }

    synchronized void requestSent() {
        savedRequests = Math.min(MAX_SAVED_REQUESTS, savedRequests + share);
    }

    /** Takes one hedged request from the budget. Returns false if the budget is used up. */
    synchronized boolean take() {
        if (savedRequests < 1) {
            return false;
        }
        savedRequests--;
        return true;
    }
}
