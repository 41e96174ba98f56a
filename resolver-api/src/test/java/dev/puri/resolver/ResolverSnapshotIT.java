package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.log.Topics;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A resolver that starts with a snapshot of its table. */
final class ResolverSnapshotIT extends ResolverOnBroker {
    @Test
    void aRestartedResolverReadsOnlyRecordsAfterItsSnapshot(@TempDir Path data) throws Exception {
        write(row(TRACK, Rows.active("br-1", HANDLE)), row("soundcloud:tracks:2", Rows.active("br-2")));
        startReady(data);
        stop();
        // From here on only the snapshot contains them.
        deleteRecords();
        write(row("soundcloud:tracks:3", Rows.active("br-3")), tombstone("soundcloud:tracks:2"));

        resolver = Resolver.start(settings(data));
        // The table is complete, but could not be filled again.
        awaitUnready("were deleted, so the topic lacks rows");

        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        assertThat(get(HANDLE).at("/puri").asText()).isEqualTo(TRACK);
        assertThat(get("soundcloud:tracks:2").at("/verdict").asText()).isEqualTo("unknown");
        assertThat(get("soundcloud:tracks:3").at("/shard").asText()).isEqualTo("br-3");
        assertThat(json("/health/ready").at("/checks/0/data/behind").asLong(-1)).isZero();
        assertThat(data).isDirectoryContaining(file -> file.endsWith("identities.snapshot"));
    }

    @Test
    void aSnapshotOfAFormerTopicIsNotUsed(@TempDir Path data) throws Exception {
        write(row(TRACK, Rows.active("br-1")));
        startReady(data);
        stop();
        deleteTopicIfThere();
        createTopic();
        write(row("soundcloud:tracks:2", Rows.active("br-2")), row("soundcloud:tracks:3", Rows.active("br-3")));

        startReady(data);

        assertThat(get(TRACK).at("/verdict").asText()).isEqualTo("unknown");
        assertThat(get("soundcloud:tracks:2").at("/verdict").asText()).isEqualTo("found");
    }

    @Test
    void aSnapshotOlderThanTombstonesAreKeptIsNotUsed(@TempDir Path data) throws Exception {
        write(row(TRACK, Rows.active("br-1")));
        startReady(data);
        stop();
        // With this retention, a tombstone may have been compacted away after the snapshot.
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, Topics.IDENTITIES);
        admin.incrementalAlterConfigs(Map.of(
                        topic,
                        List.of(new AlterConfigOp(
                                new ConfigEntry("delete.retention.ms", "1"), AlterConfigOp.OpType.SET))))
                .all()
                .get();

        registry.stop();
        try {
            resolver = Resolver.start(settings(data));
            awaitUnready("waiting for the schema registry");
            assertThat(data.resolve("identities.snapshot.refused")).exists();
        } finally {
            registry.start();
        }
        awaitReady();
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
    }

    @Test
    void aDamagedSnapshotCostsTimeOnly(@TempDir Path data) throws Exception {
        write(row(TRACK, Rows.active("br-1")));
        startReady(data);
        stop();
        Path snapshot = data.resolve("identities.snapshot");
        byte[] bytes = Files.readAllBytes(snapshot);
        bytes[bytes.length / 2] ^= 1;
        Files.write(snapshot, bytes);

        assertIsRefusedAndRefilled(data, bytes);
    }

    @Test
    void aSnapshotThatCannotBeReadThoughItsChecksumsAreRightIsSetAside(@TempDir Path data) throws Exception {
        write(row(TRACK, Rows.active("br-1")));
        startReady(data);
        stop();
        Path snapshot = data.resolve("identities.snapshot");
        byte[] bytes = Files.readAllBytes(snapshot);
        // The footer has the position of the words, which begin with the number of texts and the first one's length.
        ByteBuffer damaged = ByteBuffer.wrap(bytes);
        int words = (int) damaged.getLong(bytes.length - 56);
        int checked = damaged.getInt(bytes.length - 48) - 4;
        damaged.putShort(words + 4, (short) -1);
        CRC32C crc = new CRC32C();
        crc.update(bytes, words, checked);
        damaged.putInt(words + checked, (int) crc.getValue());
        Files.write(snapshot, bytes);

        assertIsRefusedAndRefilled(data, bytes);
    }

    private void assertIsRefusedAndRefilled(Path data, byte[] snapshot) {
        // Without it the table is not filled; once it is filled, the file that was set aside is deleted.
        registry.stop();
        try {
            resolver = Resolver.start(settings(data));
            awaitUnready("waiting for the schema registry");
            assertThat(data.resolve("identities.snapshot.refused")).hasBinaryContent(snapshot);
            assertThat(data.resolve("identities.snapshot")).doesNotExist();
        } finally {
            registry.start();
        }

        awaitReady();
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
    }

    private static void deleteRecords() throws Exception {
        Map<TopicPartition, RecordsToDelete> all = new HashMap<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            // Up to the end.
            all.put(new TopicPartition(Topics.IDENTITIES, partition), RecordsToDelete.beforeOffset(-1));
        }
        admin.deleteRecords(all).all().get();
    }
}
