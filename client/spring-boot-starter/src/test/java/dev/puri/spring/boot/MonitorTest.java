package dev.puri.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.outbox.RelayStatus;
import dev.puri.client.outbox.RelayStatus.BlockedPuri;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverException;
import dev.puri.client.resolve.ResolverOptions;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.FilteredClassLoader;

/** Health and metrics. */
class MonitorTest {
    private static final Instant NOW = Instant.parse("2026-11-23T08:00:00Z");
    private static final Duration MAX_LAG = Duration.ofMinutes(1);
    private static final RelayStatus IDLE = new RelayStatus(true, 0, null, 0, null, List.of(), null);

    private static RelayStatus waitingSince(Instant oldest) {
        return new RelayStatus(true, 3, oldest, 0, null, List.of(), "no broker");
    }

    private static RelayStatus blocked() {
        return new RelayStatus(
                true,
                0,
                null,
                2,
                NOW,
                List.of(new BlockedPuri("music:tracks:1", new UUID(0, 7), 1, NOW, 4, "too large")),
                null);
    }

    private static HealthReport report(RelayStatus status) {
        return RelayHealth.report(status, null, MAX_LAG, NOW);
    }

    @Test
    void aRelayIsUpUntilEventsHaveWaitedForTooLong() {
        assertThat(report(IDLE).status()).isEqualTo("UP");
        HealthReport onTheLimit = report(waitingSince(NOW.minus(MAX_LAG)));
        assertThat(onTheLimit.status()).isEqualTo("UP");
        assertThat(onTheLimit.details()).containsEntry("problem", "no broker").containsEntry("lag", "PT1M");
        assertThat(report(waitingSince(NOW.minus(MAX_LAG).minusMillis(1))).status())
                .isEqualTo("DOWN");
        assertThat(report(waitingSince(NOW.plusSeconds(9))).details()).containsEntry("lag", "PT0S");
    }

    @Test
    void blockedNamesAreReportedAndDoNotMakeTheRelayDown() {
        HealthReport report = report(blocked());
        assertThat(report.status()).isEqualTo("BLOCKED");
        assertThat(report.details().toString()).contains("music:tracks:1", "too large", new UUID(0, 7).toString());
    }

    @Test
    void anOutboxThatCannotBeReadIsDown() {
        HealthReport report = RelayHealth.report(null, "away", MAX_LAG, NOW);
        assertThat(report.status()).isEqualTo("DOWN");
        assertThat(report.details()).containsEntry("error", "away");
    }

    @Test
    void ofSeveralRelaysTheWorstCounts() {
        HealthReport up = report(IDLE);
        HealthReport blocked = report(blocked());
        HealthReport down = RelayHealth.report(null, "away", MAX_LAG, NOW);
        assertThat(HealthReport.of(Map.of("a", up))).isSameAs(up);
        assertThat(HealthReport.of(Map.of("a", up, "b", blocked)).status()).isEqualTo("BLOCKED");
        HealthReport all = HealthReport.of(Map.of("a", up, "b", blocked, "c", down));
        assertThat(all.status()).isEqualTo("DOWN");
        assertThat(all.details()).containsOnlyKeys("a", "b", "c");
    }

    private static HealthReport healthOf(RuntimeException failure) {
        return new ResolverHealth(Map.of("resolver", Contexts.failingResolver(failure))).report();
    }

    @Test
    void anyExceptionOfAResolverIsDownWithDetails() {
        HealthReport report = healthOf(new IllegalStateException("no answer from http://ann:hidden@a:1"));
        assertThat(report.status()).isEqualTo("DOWN");
        assertThat(report.details())
                .containsEntry("error", "java.lang.IllegalStateException: no answer from http://***@a:1");
        assertThat(healthOf(new ResolverException(ResolverException.Kind.UNAVAILABLE, "being filled")))
                .isEqualTo(new HealthReport("DOWN", Map.of("kind", "UNAVAILABLE", "error", "being filled")));
    }

    @Test
    void aHangingResolverIsDownWithTheMaximumOfPendingLookUps() {
        assertThat(healthOf(new ResolverException(ResolverException.Kind.FULL, "10000 wait already")))
                .isEqualTo(new HealthReport("DOWN", Map.of("kind", "FULL", "error", "10000 wait already")));
    }

    @Test
    void anAnswerOfTheLastTenSecondsIsRecent() {
        assertThat(ResolverHealth.isRecent(null)).isFalse();
        assertThat(ResolverHealth.isRecent(Duration.ofSeconds(10))).isTrue();
        assertThat(ResolverHealth.isRecent(Duration.ofMillis(10_001))).isFalse();
    }

    /** The first look-up is answered; the next one waits and fills the bound of pending look-ups. */
    @Test
    void aRespondingResolverIsUpWithTheMaximumOfPendingLookUps() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        AtomicBoolean isAnswering = new AtomicBoolean(true);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            if (isAnswering.get()) {
                byte[] body = "{\"results\":[{\"ref\":\"a:b:c\",\"verdict\":\"unknown\"}]}".getBytes(UTF_8);
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
            }
        });
        server.start();
        ResolverOptions options = ResolverOptions.at(
                        "http://127.0.0.1:" + server.getAddress().getPort())
                .maxPending(1)
                .deadline(Duration.ofMinutes(1))
                .build();
        try (ResolverClient client = ResolverClient.open(options)) {
            client.resolve("a:b:c");
            isAnswering.set(false);
            var unused = client.resolveAsync(Ref.of("a:b:d"), Duration.ZERO);
            HealthReport report = new ResolverHealth(Map.of("resolver", client)).report();
            assertThat(report.details()).containsEntry("kind", "FULL");
            assertThat(report.status()).isEqualTo("UP");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void statusRequestsWithinSecondsShareOneRead() {
        AtomicLong time = new AtomicLong();
        Deque<Callable<RelayStatus>> answers = new ArrayDeque<>(List.of(
                () -> IDLE,
                () -> {
                    throw new SQLException("away");
                },
                MonitorTest::blocked));
        RelayMonitor monitor = new RelayMonitor(() -> answers.pop().call(), time::get);
        assertThat(monitor.read().status()).isSameAs(IDLE);
        time.addAndGet(RelayMonitor.MAX_AGE.toNanos() - 1);
        assertThat(monitor.read().status()).isSameAs(IDLE);
        time.incrementAndGet();
        assertThat(monitor.read().error()).contains("away");
        assertThat(monitor.read().status()).isNull();
        time.addAndGet(RelayMonitor.MAX_AGE.toNanos());
        assertThat(monitor.read().status()).isEqualTo(blocked());
        assertThat(answers).isEmpty();
    }

    @Test
    void gaugesFollowTheRelayAndAreNaNWhileItCannotBeRead() {
        AtomicLong time = new AtomicLong();
        Deque<Callable<RelayStatus>> answers = new ArrayDeque<>(List.of(MonitorTest::blocked, () -> {
            throw new SQLException("away");
        }));
        MeterRegistry registry = new SimpleMeterRegistry();
        new RelayMetrics(new RelayMonitors(
                        Map.of("shard1", new RelayMonitor(() -> answers.pop().call(), time::get))))
                .bindTo(registry);
        assertThat(gauge(registry, "puri.outbox.blocked")).isEqualTo(2);
        assertThat(gauge(registry, "puri.outbox.leads")).isEqualTo(1);
        assertThat(gauge(registry, "puri.outbox.waiting")).isZero();
        assertThat(gauge(registry, "puri.outbox.lag")).isZero();
        time.addAndGet(RelayMonitor.MAX_AGE.toNanos());
        assertThat(gauge(registry, "puri.outbox.blocked")).isNaN();
    }

    private static double gauge(MeterRegistry registry, String name) {
        return registry.get(name).tag("relay", "shard1").gauge().value();
    }

    @Test
    void metersExistForExistingBeans() {
        Contexts.runner()
                .withBean(DataSource.class, Contexts::noDatabase)
                .withPropertyValues(Contexts.KAFKA)
                .withPropertyValues("puri.outbox.dialect=mysql", "puri.resolver.addresses=http://127.0.0.1:1")
                .run(context -> {
                    MeterRegistry registry = new SimpleMeterRegistry();
                    context.getBeansOfType(MeterBinder.class).values().forEach(each -> each.bindTo(registry));
                    assertThat(registry.getMeters())
                            .extracting(meter -> meter.getId().getName())
                            .contains(
                                    "puri.outbox.lag",
                                    "puri.resolver.requests",
                                    "puri.resolver.cache.lookups",
                                    "puri.resolver.feed.current",
                                    "kafka.producer.record.send.total");
                    assertThat(registry.get("kafka.producer.buffer.total.bytes")
                                    .tagKeys("spring.id", "client.id")
                                    .gauge()
                                    .value())
                            .isEqualTo(32 << 20);
                });
        Contexts.runner().run(context -> assertThat(context).doesNotHaveBean(MeterBinder.class));
    }

    /** KafkaClientMetrics has a thread for each producer, which must end with the application. */
    @Test
    void metersOfAPublisherAreRemovedWhenTheContextCloses() {
        MeterRegistry registry = new SimpleMeterRegistry();
        Contexts.runner().withPropertyValues(Contexts.KAFKA).run(context -> {
            context.getBean(PublisherMetrics.class).bindTo(registry);
            assertThat(registry.getMeters()).isNotEmpty();
        });
        assertThat(registry.getMeters()).isEmpty();
    }

    @Test
    void anApplicationWithoutMicrometerPublishesWithoutMetrics() {
        Contexts.runner()
                .withPropertyValues(Contexts.KAFKA)
                .withClassLoader(new FilteredClassLoader("io.micrometer"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(IdentityPublisher.class)
                        .doesNotHaveBean("puriPublisherMetrics"));
    }

    @Test
    void healthIndicatorsExistForExistingBeansUnlessDisabled() throws Exception {
        Contexts.runnerWithHealth()
                .withBean(DataSource.class, Contexts::noDatabase)
                .withPropertyValues(Contexts.KAFKA)
                .withPropertyValues("puri.outbox.dialect=mysql", "puri.resolver.addresses=http://127.0.0.1:1")
                .run(context -> {
                    assertThat(health(context.getBean("puriResolverHealthIndicator")))
                            .startsWith("DOWN")
                            .contains("UNREACHABLE");
                    assertThat(health(context.getBean("puriOutboxHealthIndicator")))
                            .startsWith("DOWN")
                            .contains("away");
                });
        Contexts.runnerWithHealth()
                .withBean(IdentityResolver.class, Contexts::ownResolver)
                .run(context -> {
                    assertThat(context).doesNotHaveBean("puriOutboxHealthIndicator");
                    assertThat(health(context.getBean("puriResolverHealthIndicator")))
                            .startsWith("UP");
                });
        Contexts.runnerWithHealth()
                .withBean(IdentityResolver.class, Contexts::ownResolver)
                .withPropertyValues("management.health.puri-resolver.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean("puriResolverHealthIndicator"));
    }

    /** Boot 3 and 4 have different types of indicators, with the same method. */
    private static String health(Object indicator) throws Exception {
        var method = indicator.getClass().getMethod("health");
        method.setAccessible(true);
        return method.invoke(indicator).toString();
    }
}
