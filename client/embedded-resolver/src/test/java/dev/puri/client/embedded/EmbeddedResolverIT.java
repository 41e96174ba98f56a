package dev.puri.client.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.client.NewIdentity;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverException;
import dev.puri.client.resolve.ResolverException.Kind;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Shard;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
final class EmbeddedResolverIT {
    private static final Duration SOON = RegistryFixture.SOON;
    private static final List<String> THREADS =
            List.of("table-", "waiters", "transaction-monitor", "puri-resolver-", "follower-puri.");

    @TempDir
    private static Path folder;

    private static RegistryFixture registry;

    @TempDir
    private Path state;

    @BeforeAll
    static void start() {
        registry = new RegistryFixture(folder);
    }

    @AfterAll
    static void stop() {
        registry.close();
    }

    private EmbeddedResolver open() {
        return EmbeddedResolver.open(registry.embedded(state).build());
    }

    private static NewIdentity created(String shard) throws Exception {
        NewIdentity identity = registry.mint();
        try (EmbeddedResolver resolver = EmbeddedResolver.open(
                registry.embedded(folder.resolve(identity.uuid().toString())).build())) {
            resolver.awaitReady(SOON);
            Verdict verdict = resolver.resolve(
                    Ref.of(identity.puri()).at(registry.create(identity, shard)), Duration.ofSeconds(60));
            assertThat(verdict).isInstanceOf(Verdict.Found.class);
        }
        return identity;
    }

    private static Shard shard(EmbeddedResolver resolver, NewIdentity identity) {
        return Objects.requireNonNull(resolver.resolve(Ref.of(identity.puri())).placement())
                .shard();
    }

    @Test
    void incompleteTableFailsLookUpsAndReportsProgress() throws Exception {
        NewIdentity track = created("br-1");
        registry.schemas.stop();
        try (EmbeddedResolver resolver = open()) {
            await().atMost(SOON)
                    .until(() ->
                            String.valueOf(resolver.progress().reason()).contains("waiting for the schema registry"));

            for (Ref ref : List.of(Ref.of(track.puri()), Ref.of(Objects.requireNonNull(track.handle())))) {
                assertThatThrownBy(() -> resolver.resolve(ref))
                        .isInstanceOfSatisfying(
                                ResolverException.class,
                                none -> assertThat(none.kind()).isEqualTo(Kind.UNAVAILABLE))
                        .hasMessageContaining("offsets read: waiting for the schema registry");
                assertThat(resolver.resolveAllAsync(List.of(ref), Duration.ZERO).toCompletableFuture())
                        .isCompletedExceptionally();
            }
            assertThat(resolver.resolve("no name")).isInstanceOf(Verdict.Malformed.class);
            assertThat(resolver.isReady()).isFalse();
            assertThat(resolver.age()).isNull();
            assertThat(resolver.progress().servesLookUps()).isFalse();
            assertThatThrownBy(() -> resolver.awaitReady(Duration.ofMillis(50)))
                    .isInstanceOfSatisfying(
                            ResolverException.class,
                            late -> assertThat(late.kind()).isEqualTo(Kind.DEADLINE))
                    .hasMessageContaining("waiting for the schema registry");

            registry.schemas.start();
            resolver.awaitReady(SOON);

            assertThat(shard(resolver, track)).isEqualTo(new Shard("br-1"));
            assertThat(resolver.progress().reason()).isNull();
            assertThat(resolver.progress().reached())
                    .isEqualTo(resolver.progress().end());
            assertThat(resolver.age()).isLessThan(Duration.ofMinutes(5));
        } finally {
            registry.schemas.start();
        }
    }

    @Test
    void closeWritesASnapshotFromWhichTheNextTableOpens() throws Exception {
        NewIdentity track = created("br-1");
        try (EmbeddedResolver resolver = open()) {
            resolver.awaitReady(SOON);
        }
        assertThat(state.resolve("identities.snapshot")).isNotEmptyFile();
        // A reader of a row from the topic must request its schema.
        registry.schemas.stop();

        try (EmbeddedResolver resolver = open()) {
            resolver.awaitReady(SOON);

            assertThat(shard(resolver, track)).isEqualTo(new Shard("br-1"));
        } finally {
            registry.schemas.start();
        }
    }

    @Test
    void secondResolverCannotUseTheFolder() {
        try (EmbeddedResolver first = open()) {
            assertThatThrownBy(this::open)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll(state.toString(), "used by another resolver");
            assertThat(first.progress()).isNotNull();
        }
        open().close();
    }

    @Test
    void metersReportTheTable() throws Exception {
        created("br-1");
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (EmbeddedResolver resolver =
                EmbeddedResolver.open(registry.embedded(state).meters(meters).build())) {
            resolver.awaitReady(SOON);

            assertThat(meters.get("puri.table.ready").gauge().value()).isEqualTo(1);
            assertThat(meters.get("puri.table.rows").gauge().value()).isPositive();
            assertThat(meters.get("puri.table.bytes").gauge().value()).isPositive();
            assertThat(meters.find("puri.digest.rows").gauges()).hasSize(RegistryFixture.PARTITIONS);
        }
    }

    @Test
    void closingFreesAllThreads() {
        long before = threads();
        try (EmbeddedResolver resolver = open()) {
            resolver.awaitReady(SOON);
            assertThat(threads()).isGreaterThan(before);

            resolver.close();
            resolver.close();

            assertThat(resolver.isReady()).isFalse();
            assertThat(resolver.progress().reason()).isEqualTo("the resolver is closed");
        }
        await().atMost(SOON).until(() -> threads() <= before);
    }

    private static List<String> example(String brokers, String schemas, Path folder) {
        List<String> lines = new ArrayList<>();
        // begin
        EmbeddedResolverOptions options = EmbeddedResolverOptions.at(brokers, schemas, folder)
                .kafka(Map.of("security.protocol", "PLAINTEXT"))
                .build();
        try (EmbeddedResolver resolver = EmbeddedResolver.open(options)) {
            resolver.awaitReady(Duration.ofMinutes(5));

            for (Verdict verdict : resolver.resolveAll(
                    Ref.all(List.of("soundcloud:tracks:123", "trk_4k7vx9tz2nqr8w3", "debian:packages:bash")))) {
                switch (verdict) {
                    case Verdict.Found found ->
                        lines.add(found.puri() + " is in " + found.placement().shard());
                    case Verdict.Merged merged -> lines.add(merged.puri() + " was merged into " + merged.canonical());
                    case Verdict.Deleted deleted -> lines.add(deleted.puri() + " was deleted");
                    case Verdict.Unknown unknown -> lines.add(unknown.ref() + " is unknown");
                    case Verdict.Malformed malformed -> lines.add(malformed.detail());
                    case Verdict.NotCaughtUp late -> lines.add(late.ref() + " is not read yet");
                    case Verdict.Refused refused -> lines.add(refused.ref() + ": " + refused.reason());
                }
            }
        }
        // end
        return lines;
    }

    @Test
    void exampleOfTheDocumentationRuns() throws Exception {
        assertThat(example(registry.broker.bootstrapServers(), registry.schemas.url(), state))
                .containsExactly(
                        "soundcloud:tracks:123 is unknown",
                        "trk_4k7vx9tz2nqr8w3 is unknown",
                        "debian:packages:bash is unknown");

        String documented = Files.readString(Path.of("../../docs/embedded-resolver.md"))
                .replace("\"kafka-1:9092,kafka-2:9092\"", "brokers")
                .replace("\"http://schemas:8081/apis/ccompat/v7\"", "schemas")
                .replace("Path.of(\"/var/lib/catalog/identities\")", "folder")
                .replace("\"SSL\"", "\"PLAINTEXT\"")
                .replace("System.out.println(", "lines.add(");
        String here = Files.readString(Path.of("src/test/java/dev/puri/client/embedded/EmbeddedResolverIT.java"));
        String example = here.substring(here.indexOf("// begin") + "// begin".length(), here.indexOf("// end"));
        assertThat(documented.replaceAll("\\s+", "")).contains(example.replaceAll("\\s+", ""));
    }

    /** Counts the threads of all resolvers in this process, including the fixture's. */
    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> THREADS.stream().anyMatch(thread.getName()::startsWith))
                .count();
    }
}
