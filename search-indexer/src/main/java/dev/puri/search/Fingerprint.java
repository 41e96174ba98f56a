package dev.puri.search;

import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

    private Fingerprint(int[] checksums) {
        this.checksums = checksums;
    }

    static Fingerprint of(Entry entry) {
        return new Fingerprint(
                values(entry).stream().mapToInt(Fingerprint::checksum).toArray());
    }

    /** Returns the values of an entry's fields as texts, by name. A field without a value is absent. */
    static Map<String, String> texts(Entry entry) {
        List<@Nullable Object> values = values(entry);
        List<String> names = names(values.size());
        Map<String, String> texts = new LinkedHashMap<>();
        for (int i = 0; i < values.size(); i++) {
            Object value = values.get(i);
            if (value != null) {
                texts.put(names.get(i), value.toString());
            }
        }
        return texts;
    }

    private static List<String> names(int count) {
        return count == IDENTITY_FIELDS.size() ? IDENTITY_FIELDS : DOCUMENT_FIELDS;
    }

    /** Returns the values of an entry's fields, in the order of their names. */
    private static List<@Nullable Object> values(Entry entry) {
        return switch (entry) {
            case Row row ->
                Arrays.asList(
                        row.uuid(),
                        row.owner(),
                        row.shard(),
                        row.handle(),
                        row.status(),
                        row.epoch(),
                        row.createdAt(),
                        row.changedAt(),
                        row.mergedInto(),
                        row.position());
            case Document document ->
                Arrays.asList(
                        document.owner(),
                        document.shard(),
                        document.handle(),
                        document.status(),
                        document.mergedInto(),
                        new TreeMap<>(document.attributes()),
                        document.position());
        };
    }

    private static int checksum(@Nullable Object value) {
        CRC32C crc = new CRC32C();
        crc.update(String.valueOf(value).getBytes(StandardCharsets.UTF_8));
        return (int) crc.getValue();
    }

    /** Returns the names of the fields that differ from those of another fingerprint of the same kind. */
    List<String> differingFields(Fingerprint other) {
        List<String> names = names(checksums.length);
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
