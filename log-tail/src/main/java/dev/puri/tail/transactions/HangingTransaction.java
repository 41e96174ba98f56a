package dev.puri.tail.transactions;

import dev.puri.tail.transactions.OpenTransaction.Coordinator;
import dev.puri.tail.transactions.StableOffsets.Stalled;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A partition that waits for a transaction longer than any may take.
 *
 * @param transaction null when the brokers did not report its producer
 */
record HangingTransaction(Stalled stalled, @Nullable OpenTransaction transaction) {
    /** What is wrong, in one sentence without a full stop. */
    String reason() {
        return stalled.partition() + " cannot be read beyond offset "
                + stalled.offsets().lastStable() + " for " + stalled.since().toSeconds() + " s: " + producer() + ' '
                + finding();
    }

    private String producer() {
        if (transaction == null) {
            return "a transaction, whose producer the brokers do not tell (that takes READ on the topic),";
        }
        Coordinator known = transaction.coordinator();
        return "the transaction of producer " + transaction.producerId() + ", epoch " + transaction.producerEpoch()
                + (known == null ? "," : ", transactional id " + known.transactionalId() + ',');
    }

    private String finding() {
        return switch (OpenTransaction.outlook(transaction)) {
            case COMMITTED -> "is open here, and its coordinator has committed it elsewhere";
            case ABORTED -> "is open here, and its coordinator has aborted it elsewhere";
            case FORGOTTEN -> "is open here, and its coordinator knows nothing of it";
            case ONGOING -> "is open, and its coordinator has not aborted it after its time-out";
            case COMMITTING -> "is to be committed, and its coordinator's marker does not arrive";
            case ABORTING -> "is to be aborted, and its coordinator's marker does not arrive";
            case UNKNOWN -> "is open for longer than any may be";
        };
    }

    /** What an operator does about it. */
    String action() {
        return switch (OpenTransaction.outlook(transaction)) {
            case COMMITTED ->
                "abort it here (" + abort() + "); that contradicts the commit elsewhere, so publish the events of that "
                        + "time again, with the same event ids";
            case FORGOTTEN ->
                "abort it here (" + abort() + "); it may have been committed elsewhere, so publish the events of that "
                        + "time again, with the same event ids";
            case ABORTED -> "abort it here too (" + abort() + ')';
            case ONGOING -> "look at the broker that coordinates it, then abort it (" + abort() + ')';
            case COMMITTING, ABORTING ->
                "look at the broker that coordinates it and at the one that leads the partition; "
                        + "do not abort it by hand while the coordinator still has to send its marker";
            case UNKNOWN ->
                "ask with an administrator's rights whether it hangs (kafka-transactions.sh find-hanging --topic "
                        + stalled.partition().topic() + " --partition "
                        + stalled.partition().partition() + ") before you abort it (" + abort() + ')';
        };
    }

    private String abort() {
        return "kafka-transactions.sh abort --topic " + stalled.partition().topic() + " --partition "
                + stalled.partition().partition() + " --start-offset "
                + stalled.offsets().lastStable();
    }

    /** For health. */
    Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("topic", stalled.partition().topic());
        details.put("partition", stalled.partition().partition());
        details.put("lastStableOffset", stalled.offsets().lastStable());
        details.put("end", stalled.offsets().end());
        details.put("waitsForSeconds", stalled.since().toSeconds());
        if (transaction != null) {
            details.put("producerId", transaction.producerId());
            details.put("producerEpoch", transaction.producerEpoch());
            details.put("lastWrite", transaction.lastWrite().toString());
            Coordinator known = transaction.coordinator();
            if (known != null) {
                details.put("transactionalId", known.transactionalId());
                details.put("coordinatorState", known.state().toString());
                details.put("timeoutSeconds", known.timeout().toMillis() / 1000.0);
            }
        }
        details.put("action", action());
        return details;
    }
}
