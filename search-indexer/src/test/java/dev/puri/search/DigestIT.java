package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import dev.puri.schemas.log.Topics;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.lucene.AlteredIndex;
import dev.puri.search.lucene.LuceneStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The indexer compares its index with the digests of the registrar, and with its own stored hashes. */
final class DigestIT extends SearchServerFixture {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String TITLE = "Midnight City";

    @TempDir
    private Path folder;

    private final Row row = Samples.active(1, "br-1");
    private final Puri puri = Puri.parse(TRACK);
    private final int partition = TopicWriter.event(TRACK, 1).partition();

    private void startLucene() {
        start(Map.of(), () -> new LuceneStore(folder, new CursorSeal(new byte[32])));
    }

    private PartitionDigest digest(EntryKind kind) {
        return PartitionDigest.EMPTY.plus(
                kind == EntryKind.IDENTITY ? RowHash.of(puri, row) : RowHash.of(puri, Samples.document(row, TITLE)));
    }

    private JsonNode partition(EntryKind kind) throws IOException {
        JsonNode topic = JSON.readTree(get("/v1/digest", 200)).at("/topics/" + kind.ordinal());
        assertThat(topic.path("topic").asText()).isEqualTo(kind.topic());
        JsonNode node = topic.path("partitions").path(partition);
        assertThat(node.path("partition").asInt()).isEqualTo(partition);
        return node;
    }

    private void awaitUnready(String reason) {
        await().atMost(TIMEOUT)
                .until(() -> INTERNAL_API
                        .send(request("GET", "/health/ready"))
                        .body()
                        .contains(reason));
        assertThat(server.isReady()).isFalse();
    }

    @Test
    void anIndexThatIsAtRestEqualsTheRegistrar() throws Exception {
        topics.put(TRACK, row, TITLE, 1);
        startLucene();
        awaitReady();
        assertThat(partition(EntryKind.IDENTITY).path("state").asText()).isEqualTo("unchecked");

        for (EntryKind kind : EntryKind.values()) {
            topics.publishDigest(kind.topic(), partition, digest(kind));
            await().atMost(TIMEOUT)
                    .until(() -> partition(kind).path("state").asText().equals("equal"));
            assertThat(partition(kind).path("digest").asText())
                    .isEqualTo(digest(kind).toString());
            assertThat(partition(kind).path("nextOffset").asLong())
                    .isGreaterThan(partition(kind).path("comparedOffset").asLong());
        }
        assertThat(server.isReady()).isTrue();
        assertThat(get("/metrics", 200))
                .contains("puri_digest_differing{topic=\"puri.identities.v1\"} 0.0")
                .contains("puri_digest_differing{topic=\"puri.documents.v1\"} 0.0")
                .contains(metric("rows", EntryKind.IDENTITY) + " 1.0")
                .contains(metric("rows", EntryKind.DOCUMENT) + " 1.0")
                .contains(metric("hash", EntryKind.DOCUMENT) + " "
                        + (double) (digest(EntryKind.DOCUMENT).sum() & 0xffff_ffffL))
                .contains(metric("offset", EntryKind.DOCUMENT) + " "
                        + partition(EntryKind.DOCUMENT).path("comparedOffset").asDouble());
    }

    private String metric(String name, EntryKind kind) {
        return "puri_digest_" + name + "{partition=\"" + partition + "\",topic=\"" + kind.topic() + "\"}";
    }

    @Test
    void aMissingRecordMakesTheServerUnreadyUntilADigestIsEqual() throws Exception {
        topics.put(TRACK, row, TITLE, 1);
        startLucene();
        awaitReady();

        topics.publishDigest(
                Topics.IDENTITIES,
                partition,
                digest(EntryKind.IDENTITY).plus(RowHash.of(Puri.parse("soundcloud:tracks:2"), row)));

        awaitUnready("partition " + partition + " of puri.identities.v1 differs from the registrar at offset");
        assertThat(partition(EntryKind.IDENTITY).path("detail").asText()).contains("1 rows, the registrar has 2 rows");
        assertThat(found("q=midnight")).containsExactly(TRACK);
        assertThat(get("/metrics", 200)).contains("puri_digest_differing{topic=\"puri.identities.v1\"} 1.0");

        topics.publishDigest(Topics.IDENTITIES, partition, digest(EntryKind.IDENTITY));
        awaitReady();
    }

    @Test
    void anAlteredEntryMakesTheServerUnreadyUntilTheIndexIsRebuilt() throws Exception {
        topics.put(TRACK, row, TITLE, 1);
        startLucene();
        awaitReady();
        server.close();
        AlteredIndex.storeEntry(
                folder.resolve("index-1"),
                new IndexChange(EntryKind.IDENTITY, partition, 0, puri, row),
                Samples.active(1, "br-9"));

        startLucene();

        awaitUnready("the stored rows of partition " + partition + " of puri.identities.v1 differ");
        assertThat(get("/health/ready", 503)).contains("the entry " + TRACK);
        assertThat(ask("POST")).isEqualTo(202);
        awaitRebuild("done");
        awaitReady();
        topics.publishDigest(Topics.IDENTITIES, partition, digest(EntryKind.IDENTITY));
        await().atMost(TIMEOUT)
                .until(() ->
                        partition(EntryKind.IDENTITY).path("state").asText().equals("equal"));
    }

    @Test
    void refusesARebuildFromTopicsWithoutTheirFirstRecords() throws Exception {
        topics.put(TRACK, row, TITLE, 1);
        startLucene();
        awaitReady();

        topics.deleteRecords();

        awaitUnready("were deleted, so the topic lacks rows");
        assertThat(found("q=midnight")).containsExactly(TRACK);
        assertThat(ask("POST")).isEqualTo(503);
    }
}
