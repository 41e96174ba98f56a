package dev.puri.cli.verify;

import dev.puri.projection.TopicAdmin;
import dev.puri.projection.TopicAdmin.TopicUnavailableException;
import dev.puri.projection.TopicEnds;
import dev.puri.resolver.feed.Snapshots;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.SnapshotRefusedException;
import dev.puri.resolver.table.SnapshotRequirements;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.admin.Admin;

/** The rows of a resolver's snapshot. Its rows are loaded into memory outside the heap. */
public final class SnapshotFile implements RowCopy {
    private final Path folder;
    private final Map<String, Object> properties;

    /**
     * @param folder state folder of a resolver, or of a service with an embedded resolver
     * @param properties of Kafka clients
     */
    public SnapshotFile(Path folder, Map<String, Object> properties) {
        this.folder = folder;
        this.properties = properties;
    }

    @Override
    public String part() {
        return "snapshot";
    }

    @Override
    public String name() {
        return folder.toString();
    }

    @Override
    public boolean isLive() {
        return false;
    }

    @Override
    public Scan open() {
        InstantSource clock = InstantSource.system();
        Path file = Snapshots.fileIn(folder);
        try (TopicAdmin topic = new TopicAdmin(Admin.create(properties), Topics.IDENTITIES)) {
            TopicEnds ends = topic.endOffsets(clock);
            PackedTable table = PackedTable.open(
                    file,
                    new SnapshotRequirements(
                            ends.topicId(),
                            topic.beginningOffsets(ends),
                            ends.byPartition(),
                            topic.tombstoneRetention(),
                            clock.instant()));
            return new LoadedSnapshot(table);
        } catch (SnapshotRefusedException e) {
            throw new VerifyException("no resolver would open " + file + ": " + e.getMessage(), e);
        } catch (IOException | TopicUnavailableException e) {
            throw new VerifyException(file + " cannot be opened: " + e, e);
        }
    }

    private record LoadedSnapshot(PackedTable table) implements Scan {
        @Override
        public long nextOffset(int partition) {
            return table.nextOffset(partition);
        }

        @Override
        public void forEach(BiConsumer<Puri, Row> consumer) {
            table.scan(identity -> consumer.accept(identity.puri(), identity.row()));
        }

        @Override
        public void close() {
            table.release();
        }
    }
}
