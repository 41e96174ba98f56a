package dev.puri.client.resolve;

/**
 * Limits hedged requests to a share of all requests. An unused budget accumulates, so a small burst of hedged requests
 * is possible.
 */
final class HedgeBudget {
    private static final double MAX_BUDGET = 10;

    private final double share;
    /** Number of hedged requests that may be sent now. */
    private double budget = 1;

    /**
     * @param share number of hedged requests that each request adds to the budget, such as 0.05
     */
    HedgeBudget(double share) {
        this.share = share;
    }

    synchronized void requestSent() {
        budget = Math.min(MAX_BUDGET, budget + share);
    }

    /** Takes one hedged request from the budget. Returns false if the budget is used up. */
    synchronized boolean take() {
        if (budget < 1) {
            return false;
        }
        budget--;
        return true;
    }
}
