package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import dev.puri.schemas.serde.UnknownSchemaException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

class SchemaLookupTest {
    /** More than are requested at once, and more than are open at once. */
    private static final int IDS = 5000;

    private static final Duration RETRY_DELAY = Duration.ofMillis(10);

    private final Questions registry = new Questions();

    @Test
    void streamThreadDoesNotWaitForEachOfManyUnknownIds() {
        InstantSource noon = InstantSource.fixed(Instant.parse("2026-01-01T12:00:00Z"));
        // A look-up that starts waiting before the registry responds never ends.
        try (SchemaLookup lookup = new SchemaLookup(registry, noon, Duration.ofDays(1), 0)) {
            for (int id = 1; id <= IDS; id++) {
                assertThat(lookup.lookUp(id)).isInstanceOf(SchemaLookup.Pending.class);
            }
            registry.mayAnswer.countDown();
            // Each poll requests as many of the remaining ids as may be open at once.
            await().atMost(Duration.ofMinutes(1))
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> IntStream.rangeClosed(1, IDS)
                                    .filter(id -> !(lookup.lookUp(id) instanceof SchemaLookup.Unknown))
                                    .count()
                            == 0);
            assertThat(registry.asked).hasSize(IDS);
            assertThat(registry.asked.values()).as("each is requested once").containsOnly(1);
        }
    }

    @Test
    void streamThreadWaitsAFewTimesPerSecond() {
        registry.mayAnswer.countDown();
        SettableClock clock = new SettableClock();
        try (SchemaLookup lookup = new SchemaLookup(registry, clock, Duration.ofDays(1), 2)) {
            assertThat(lookup.lookUp(1)).isInstanceOf(SchemaLookup.Unknown.class);
            assertThat(lookup.lookUp(2)).isInstanceOf(SchemaLookup.Unknown.class);
            assertThat(lookup.lookUp(3)).isInstanceOf(SchemaLookup.Pending.class);
            clock.now = clock.now.plusSeconds(1);
            assertThat(lookup.lookUp(4)).isInstanceOf(SchemaLookup.Unknown.class);
        }
    }

    @Test
    void requestsAnUnknownIdAgainAfterFiveSeconds() {
        registry.mayAnswer.countDown();
        SettableClock clock = new SettableClock();
        try (SchemaLookup lookup = new SchemaLookup(registry, clock)) {
            lookup.await(1);
            clock.now = clock.now.plusMillis(4999);
            lookup.await(1);
            assertThat(registry.asked).containsEntry(1, 1);
            clock.now = clock.now.plusMillis(1);
            lookup.await(1);
            assertThat(registry.asked).containsEntry(1, 2);
        }
    }

    /** Each failed round is repeated: otherwise an error would leave every later id without an answer. */
    @Test
    void continuesRequestsAfterAnErrorInItsThread() {
        CountDownLatch mayGoOn = new CountDownLatch(1);
        InstantSource failing = () -> {
            if (Thread.currentThread().getName().equals("schema-lookup") && mayGoOn.getCount() > 0) {
                mayGoOn.countDown();
                throw new OutOfMemoryError("for this test");
            }
            return Instant.parse("2026-01-01T12:00:00Z");
        };
        registry.isOutOfReach = true;
        registry.mayAnswer.countDown();
        try (SchemaLookup lookup = new SchemaLookup(registry, failing, Duration.ofMillis(1), 0, RETRY_DELAY)) {
            assertThat(lookup.lookUp(1)).isInstanceOf(SchemaLookup.Pending.class);
            await().atMost(Duration.ofMinutes(1))
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> mayGoOn.getCount() == 0);
            registry.isOutOfReach = false;

            await().atMost(Duration.ofMinutes(1))
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> lookup.lookUp(1) instanceof SchemaLookup.Unknown);
        }
    }

    @Test
    void negativeIdsAreUnknownWithoutARequest() {
        try (SchemaLookup lookup = new SchemaLookup(registry, InstantSource.system())) {
            assertThat(lookup.await(-5)).isInstanceOf(SchemaLookup.Unknown.class);
            assertThat(registry.asked).isEmpty();
        }
    }

    private static final class SettableClock implements InstantSource {
        private volatile Instant now = Instant.parse("2026-01-01T12:00:00Z");

        @Override
        public Instant instant() {
            return now;
        }
    }

    /** Knows no schema, responds when the test allows it, and counts requests. */
    private static final class Questions implements SchemaRegistry {
        private final Map<Integer, Integer> asked = new ConcurrentHashMap<>();
        private final CountDownLatch mayAnswer = new CountDownLatch(1);
        private volatile boolean isOutOfReach;

        @Override
        public Schema byId(int id) {
            asked.merge(id, 1, Integer::sum);
            try {
                mayAnswer.await();
            } catch (InterruptedException e) {
                throw new org.apache.kafka.common.errors.InterruptException(e);
            }
            if (isOutOfReach) {
                throw new SchemaRegistryUnavailableException("no registry answers", null);
            }
            throw new UnknownSchemaException("schema id " + id + ": no schema has it", null);
        }

        @Override
        public int register(String subject, Schema schema) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int idOf(String subject, Schema schema) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }
}
