package dev.puri.cli;

import dev.puri.cli.verify.Difference;
import dev.puri.cli.verify.Repairs;
import dev.puri.cli.verify.VerifyFolder;
import dev.puri.client.Delivery;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.PublishException;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Reason;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.errors.InterruptException;

/** Repairs the rows that differ from the registrar's ({@link Repairs}), in bounded memory. */
final class RowRepair {
    /** Maximum number of events without an outcome. */
    private static final int BATCH = 5_000;

    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final Console console;
    private final VerifyFolder folder;
    private final int partitions;

    /**
     * The numbers of differences.
     *
     * @param writes number of rows that the registrar writes again
     * @param deletions number of rows that the registrar does not have, so that it writes tombstones
     * @param others number of differences that are not repaired
     */
    record Plan(long writes, long deletions, long others) {
        long repairs() {
            return writes + deletions;
        }

        boolean isEmpty() {
            return repairs() == 0 && others == 0;
        }
    }

    /**
     * @param folder the folder of the verification
     * @param partitions number of partitions of the topic
     */
    RowRepair(Console console, VerifyFolder folder, int partitions) {
        this.console = console;
        this.folder = folder;
        this.partitions = partitions;
    }

    /**
     * Counts the differences, and prints those that are not repaired.
     *
     * @param isDryRun whether to print the others, too
     */
    Plan plan(boolean isDryRun) throws IOException {
        long[] counts = new long[3];
        folder.forEachDifference(difference -> {
            String obstacle = Repairs.obstacle(difference, partitions);
            boolean isDeletion = Repairs.isDeletion(difference);
            if (obstacle != null) {
                counts[2]++;
                say("not repaired: " + difference.puri() + " in " + difference.copy() + ": " + obstacle);
                return;
            }
            counts[isDeletion ? 1 : 0]++;
            if (isDryRun) {
                say((isDeletion ? "would be deleted: " : "would be written again: ") + difference.puri());
            }
        });
        return new Plan(counts[0], counts[1], counts[2]);
    }

    private void say(String message) {
        console.say("puri: " + Difference.escaped(message));
    }

    /**
     * Publishes the events of the repairs, and waits for their outcomes.
     *
     * @return whether the registrar has answered all of them
     * @throws CommandException if an event cannot be published
     */
    boolean run(Plan plan, CliSettings settings, BrokerRequests requests) throws IOException {
        Declarations declarations = requests.declarations();
        Results results = new Results();
        ProgressLine progress = new ProgressLine(console, "rows repaired");
        try (OutcomeReader outcomes = requests.outcomes(results::onOutcome);
                IdentityPublisher publisher = settings.publisher(declarations)) {
            Batches batches =
                    new Batches(publisher, outcomes, results, () -> progress.show(results.count(), plan.repairs()));
            folder.forEachDifference(difference -> {
                if (Repairs.obstacle(difference, partitions) == null) {
                    batches.add(difference);
                }
            });
            batches.publish();
        } catch (PublishException e) {
            throw CommandException.failed(
                    results + " before an event could not be published: " + e.getMessage() + "; verify again", e);
        } finally {
            progress.end();
        }
        long open = plan.repairs() - results.count();
        say(results
                + (open == 0
                        ? ""
                        : "; " + open + " rows were not repaired, because no outcome was read for "
                                + TIMEOUT.toSeconds() + " s")
                + ". Verify again: puri verify");
        return open == 0;
    }

    /** Counts the outcomes. */
    private static final class Results {
        private final AtomicLong written = new AtomicLong();
        private final AtomicLong deleted = new AtomicLong();

        /** One element for each row of the current batch: whether the repair deletes the row. */
        private volatile List<Boolean> deletions = List.of();

        void onOutcome(long index, ReportedOutcome outcome, String detail) {
            if (outcome.kind() != Outcome.Kind.REFUSED) {
                throw new IllegalStateException("a repair is always refused, but its outcome is " + outcome);
            }
            // The identity may have been created or erased since the verification.
            boolean isDeleted = Reason.UNKNOWN_PURI.name().equals(outcome.reason())
                    || (!Reason.OTHER_INCARNATION.name().equals(outcome.reason()) && deletions.get((int) index));
            (isDeleted ? deleted : written).incrementAndGet();
        }

        long count() {
            return written.get() + deleted.get();
        }

        @Override
        public String toString() {
            return written.get() + " rows were written again, " + deleted.get() + " rows were deleted";
        }
    }

    /** Publishes events in batches. Each waits for the outcomes of the one before. */
    private static final class Batches {
        private final IdentityPublisher publisher;
        private final OutcomeReader outcomes;
        private final Results results;
        private final Runnable onProgress;
        private final Repairs repairs = new Repairs(Repairs.SOURCE);
        private final List<Event> events = new ArrayList<>();
        private final List<Boolean> deletions = new ArrayList<>();
        private boolean isStopped;

        Batches(IdentityPublisher publisher, OutcomeReader outcomes, Results results, Runnable onProgress) {
            this.publisher = publisher;
            this.outcomes = outcomes;
            this.results = results;
            this.onProgress = onProgress;
        }

        void add(Difference difference) {
            if (isStopped) {
                return;
            }
            events.add(repairs.event(Puri.parse(String.valueOf(difference.puri())), Instant.now()));
            deletions.add(Repairs.isDeletion(difference));
            if (events.size() == BATCH) {
                publish();
            }
        }

        /** Publishes the batch. If outcomes are missing, nothing is published any more. */
        void publish() {
            if (events.isEmpty()) {
                return;
            }
            results.deletions = List.copyOf(deletions);
            List<Delivery> deliveries = publisher.publishAll(events);
            for (int i = 0; i < deliveries.size(); i++) {
                switch (deliveries.get(i)) {
                    case Delivery.Acknowledged acknowledged -> outcomes.expect(acknowledged.token(), i);
                    case Delivery.Failed failed -> throw failed.error();
                }
            }
            events.clear();
            deletions.clear();
            try {
                isStopped = outcomes.await(TIMEOUT) > 0;
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            }
            onProgress.run();
        }
    }
}
