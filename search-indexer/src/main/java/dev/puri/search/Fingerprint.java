package dev.puri.search;

import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.Entry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The checksums of an entry's fields, 4 bytes each. They are small enough to hold millions in memory, and two
 * fingerprints show in which fields their entries differ.
 */
final class Fingerprint {
    // The names are those of the HTTP API, which calls mergedInto "canonical".
    private static final List<String> IDENTITY_FIELDS = List.of(
            "uuid", "owner", "shard", "handle", "status", "epoch", "createdAt", "changedAt", "canonical", "position");
    private static final List<String> DOCUMENT_FIELDS =
            List.of("owner", "shard", "handle", "status", "canonical", "attributes", "position");

    private final int[] checksums;

    private Fingerprint(Object... values) {
        checksums = new int[values.length];
        for (int i = 0; i < values.length; i++) {
            checksums[i] = checksum(values[i]);
        }
    }

    static Fingerprint of(Entry entry) {
        return switch (entry) {
            case Entry.OfIdentity identity -> of(identity.row());
            case Entry.OfDocument document -> of(document.document());
        };
    }

    private static Fingerprint of(Row row) {
        return new Fingerprint(
                row.uuid(),
                row.owner(),
                row.shard(),
                text(row.handle()),
                row.status(),
                row.epoch(),
                row.createdAt(),
                row.changedAt(),
                text(row.mergedInto()),
                row.position());
    }

    private static Fingerprint of(Document document) {
        return new Fingerprint(
                document.owner(),
                document.shard(),
                text(document.handle()),
                document.status(),
                text(document.mergedInto()),
                new TreeMap<>(document.attributes()),
                document.position());
    }

    private static String text(@Nullable Object value) {
        return String.valueOf(value);
    }

    private static int checksum(Object value) {
        CRC32C crc = new CRC32C();
        crc.update(value.toString().getBytes(StandardCharsets.UTF_8));
        return (int) crc.getValue();
    }

    /** Returns the names of the fields that differ from those of another fingerprint of the same kind. */
    List<String> differingFields(Fingerprint other) {
        List<String> names = checksums.length == IDENTITY_FIELDS.size() ? IDENTITY_FIELDS : DOCUMENT_FIELDS;
        List<String> differing = new ArrayList<>();
        for (int i = 0; i < checksums.length; i++) {
            if (checksums[i] != other.checksums[i]) {
                differing.add(names.get(i));
            }
        }
        return differing;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Fingerprint that && Arrays.equals(checksums, that.checksums);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(checksums);
    }
}
