package dev.puri.projection.transactions;

import dev.puri.projection.transactions.OpenTransaction.CoordinatorReport;
import dev.puri.projection.transactions.StallTimer.StalledPartition;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A partition that has waited for a transaction longer than the transaction may take.
 *
 * @param transaction null if the brokers did not report the producer
 */
record HangingTransaction(
        StalledPartition stalled, @Nullable OpenTransaction transaction) {
    /** Returns a description of the problem, as one sentence without a full stop. */
    String reason() {
        return stalled.partition() + " cannot be read beyond offset "
                + stalled.offsets().lastStable() + " for "
                + stalled.stalledFor().toSeconds() + " s: " + producer() + ' ' + description();
    }

    private String producer() {
        if (transaction == null) {
            return "a transaction, whose producer the brokers do not report (which requires READ on the topic),";
        }
        CoordinatorReport report = transaction.report();
        return "the transaction of producer " + transaction.producerId() + ", epoch " + transaction.producerEpoch()
                + (report == null ? "," : ", transactional id " + report.transactionalId() + ',');
    }

    private String description() {
        return switch (OpenTransaction.coordinatorState(transaction)) {
            case COMMITTED -> "is open here, and its coordinator has committed it elsewhere";
            case ABORTED -> "is open here, and its coordinator has aborted it elsewhere";
            case FORGOTTEN -> "is open here, and its coordinator does not know it";
            case ONGOING -> "is open, and its coordinator has not aborted it after its timeout";
            case COMMITTING -> "is being committed, but the commit marker of its coordinator does not arrive";
            case ABORTING -> "is being aborted, but the abort marker of its coordinator does not arrive";
            case UNKNOWN -> "has been open for longer than any transaction may be";
        };
    }

    /** Returns what an operator should do. */
    String action() {
        return switch (OpenTransaction.coordinatorState(transaction)) {
            case COMMITTED ->
                "abort it here (" + abortCommand() + "); that contradicts the commit elsewhere, so publish the events "
                        + "of that time again, with the same event ids";
            case FORGOTTEN ->
                "abort it here (" + abortCommand() + "); it may have been committed elsewhere, so publish the events "
                        + "of that time again, with the same event ids";
            case ABORTED -> "abort it here too (" + abortCommand() + ')';
            case ONGOING -> "check the broker that coordinates it, then abort it (" + abortCommand() + ')';
            case COMMITTING, ABORTING ->
                "check the broker that coordinates it and the broker that leads the partition; "
                        + "do not abort it by hand while the coordinator still has to send the marker";
            case UNKNOWN ->
                "check with an administrator's rights whether it hangs (kafka-transactions.sh find-hanging --topic "
                        + stalled.partition().topic() + " --partition "
                        + stalled.partition().partition() + ") before you abort it (" + abortCommand() + ')';
        };
    }

    private String abortCommand() {
        return "kafka-transactions.sh abort --topic " + stalled.partition().topic() + " --partition "
                + stalled.partition().partition() + " --start-offset "
                + stalled.offsets().lastStable();
    }

    /** Returns the details for health. */
    Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("topic", stalled.partition().topic());
        details.put("partition", stalled.partition().partition());
        details.put("lastStableOffset", stalled.offsets().lastStable());
        details.put("end", stalled.offsets().highWatermark());
        details.put("waitsForSeconds", stalled.stalledFor().toSeconds());
        if (transaction != null) {
            details.put("producerId", transaction.producerId());
            details.put("producerEpoch", transaction.producerEpoch());
            details.put("lastWrite", transaction.lastWrite().toString());
            CoordinatorReport report = transaction.report();
            if (report != null) {
                details.put("transactionalId", report.transactionalId());
                details.put("coordinatorState", report.state().toString());
                details.put("timeoutSeconds", report.timeout().toMillis() / 1000.0);
            }
        }
        details.put("action", action());
        return details;
    }
}
