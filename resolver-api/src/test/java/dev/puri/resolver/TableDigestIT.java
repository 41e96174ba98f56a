package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.resolver.table.TableFaults;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import dev.puri.schemas.log.Topics;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A resolver whose topic has the digests that the registrar publishes, and that lacks rows or has damaged ones. */
final class TableDigestIT extends ResolverOnBroker {
    private static final String OTHER = "soundcloud:tracks:2";

    private final Map<Puri, Row> rows = new HashMap<>();

    private static int partition(String puri) {
        return Utils.toPositive(Utils.murmur2(Puri.parse(puri).toBytes())) % PARTITIONS;
    }

    private void put(String puri, Row row) {
        rows.put(Puri.parse(puri), row);
        write(row(puri, row));
    }

    /** Publishes the digests of all partitions, as the registrar does at rest. */
    private void publishDigests() {
        for (int partition = 0; partition < PARTITIONS; partition++) {
            PartitionDigest digest = PartitionDigest.EMPTY;
            for (Map.Entry<Puri, Row> row : rows.entrySet()) {
                if (partition(row.getKey().toString()) == partition) {
                    digest = digest.plus(RowHash.of(row.getKey(), row.getValue()));
                }
            }
            publish(partition, digest);
        }
    }

    private static void publish(int partition, PartitionDigest digest) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(Topics.IDENTITIES, partition, bytes(Topics.MARKER + partition), null);
        record.headers().add(digest.toHeader());
        write(record);
    }

    private void awaitEqual() {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            JsonNode partitions = json("/v1/digest").at("/topics/0/partitions");
            assertThat(partitions)
                    .hasSize(PARTITIONS)
                    .allSatisfy(partition ->
                            assertThat(partition.path("state").asText()).isEqualTo("equal"));
        });
    }

    @Test
    void aTableAtRestEqualsTheRegistrar() {
        put(TRACK, Rows.active("br-1", HANDLE));
        put(OTHER, Rows.mergedInto(TRACK));
        put(OTHER, Rows.deleted(null));
        startReady();
        put("soundcloud:tracks:3", Rows.active("br-3"));
        rows.remove(Puri.parse(TRACK));
        write(tombstone(TRACK));

        publishDigests();

        awaitEqual();
        JsonNode partition = json("/v1/digest").at("/topics/0/partitions/" + partition(OTHER));
        String tags = "{partition=\"" + partition(OTHER) + "\",topic=\"puri.identities.v1\"} ";
        assertThat(send("/metrics").body())
                .contains("puri_digest_differing{topic=\"puri.identities.v1\"} 0.0")
                .contains("puri_digest_rows" + tags + partition.path("rows").asDouble())
                .contains("puri_digest_offset" + tags
                        + partition.path("comparedOffset").asDouble());
        assertThat(partition.path("rows").asLong()).isPositive();
        assertThat(partition.path("nextOffset").asLong())
                .isGreaterThan(partition.path("comparedOffset").asLong());
    }

    @Test
    void aTableThatLacksARowIsUnreadyUntilItEqualsTheRegistrarAgain() {
        put(TRACK, Rows.active("br-1"));
        startReady();
        int partition = partition(TRACK);

        publish(partition, new PartitionDigest(2, 7));

        awaitUnready("partition " + partition + " of puri.identities.v1 differs from the registrar at offset ");
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        assertThat(send("/metrics").body()).contains("puri_digest_differing{topic=\"puri.identities.v1\"} 1.0");
        publishDigests();
        awaitReady();
    }

    @Test
    void aFlippedBitMakesTheServerUnreadyUntilTheTableIsRebuilt(@TempDir Path data) {
        put(TRACK, Rows.active("br-1"));
        put(OTHER, Rows.active("br-2"));
        startReady(data);

        TableFaults.flipBit(
                Objects.requireNonNull(requireResolver().keeper().liveTable()).table(), Puri.parse(TRACK));

        awaitUnready("the stored rows of partition " + partition(TRACK) + " of puri.identities.v1 differ");
        HttpResponse<String> accepted = CONTRACT.sendAsync(
                        HttpRequest.newBuilder(request("/v1/table/rebuild").uri())
                                .POST(HttpRequest.BodyPublishers.noBody())
                                .build())
                .join();
        assertThat(accepted.statusCode()).as(accepted.body()).isEqualTo(202);
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(json("/v1/table/rebuild").path("state").asText())
                                .isEqualTo("done"));
        awaitReady();
        publishDigests();
        awaitEqual();
    }

    @Test
    void deletedRecordsAreAnAlarmForARunningTableAndRefuseAnEmptyOne() throws Exception {
        put(TRACK, Rows.active("br-1"));
        put(TRACK, Rows.active("br-2"));
        startReady();
        int partition = partition(TRACK);

        // The policy of this topic is compact,delete; with compact alone the brokers would refuse.
        admin.deleteRecords(Map.of(new TopicPartition(Topics.IDENTITIES, partition), RecordsToDelete.beforeOffset(1)))
                .all()
                .get();

        String reason = "records of partition " + partition + " of puri.identities.v1 before offset 1 were deleted";
        awaitUnready(reason);
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-2");
        stop();
        start();
        awaitUnready(reason);
        assertThat(send("/v1/identities/" + TRACK).statusCode()).isEqualTo(503);
        assertThat(send("/v1/digest").statusCode()).isEqualTo(503);
        assertThat(send("/health/started").statusCode()).isEqualTo(503);
    }
}
