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
 * An entry in 28 or 40 bytes: a checksum of each of its fields, so that two can be compared field by field
 * while millions are in memory.
 */
final class Fingerprint {
    private static final List<String> OF_IDENTITY = List.of(
            "uuid", "owner", "shard", "handle", "status", "epoch", "createdAt", "changedAt", "canonical", "position");
    private static final List<String> OF_DOCUMENT =
            List.of("owner", "shard", "handle", "status", "canonical", "attributes", "position");

    private final int[] fields;

    private Fingerprint(Object... values) {
        fields = new int[values.length];
        for (int i = 0; i < values.length; i++) {
            fields[i] = checksum(values[i]);
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
        CRC32C sum = new CRC32C();
        sum.update(value.toString().getBytes(StandardCharsets.UTF_8));
        return (int) sum.getValue();
    }

    /** The fields in which another of the same kind is not the same. */
    List<String> differences(Fingerprint other) {
        List<String> names = fields.length == OF_IDENTITY.size() ? OF_IDENTITY : OF_DOCUMENT;
        List<String> different = new ArrayList<>();
        for (int i = 0; i < fields.length; i++) {
            if (fields[i] != other.fields[i]) {
                different.add(names.get(i));
            }
        }
        return different;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Fingerprint that && Arrays.equals(fields, that.fields);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(fields);
    }
}
