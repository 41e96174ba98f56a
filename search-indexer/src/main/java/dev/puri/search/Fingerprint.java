package dev.puri.search;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
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

    private Fingerprint(Object... values) {
        checksums = new int[values.length];
        for (int i = 0; i < values.length; i++) {
            checksums[i] = checksum(values[i]);
        }
    }

    static Fingerprint of(Entry entry) {
        return switch (entry) {
            case Row row -> of(row);
            case Document document -> of(document);
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

    /** Returns the values of an entry's fields as texts, by name. A field without a value is absent. */
    static Map<String, String> texts(Entry entry) {
        Map<String, String> texts = new LinkedHashMap<>();
        switch (entry) {
            case Row row -> {
                texts.put("uuid", row.uuid().toString());
                putCommon(texts, row.owner(), row.shard(), row.handle(), row.status(), row.mergedInto());
                texts.put("epoch", Long.toString(row.epoch()));
                texts.put("createdAt", row.createdAt().toString());
                texts.put("changedAt", row.changedAt().toString());
                texts.put("position", row.position().toString());
            }
            case Document document -> {
                putCommon(
                        texts,
                        document.owner(),
                        document.shard(),
                        document.handle(),
                        document.status(),
                        document.mergedInto());
                texts.put("attributes", new TreeMap<>(document.attributes()).toString());
                texts.put("position", document.position().toString());
            }
        }
        return texts;
    }

    private static void putCommon(
            Map<String, String> texts,
            Owner owner,
            Shard shard,
            @Nullable Handle handle,
            Row.Status status,
            @Nullable Puri mergedInto) {
        texts.put("owner", owner.text());
        texts.put("shard", shard.text());
        if (handle != null) {
            texts.put("handle", handle.text());
        }
        texts.put("status", status.toString());
        if (mergedInto != null) {
            texts.put("canonical", mergedInto.toString());
        }
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
