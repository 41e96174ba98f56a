package dev.puri.cli.verify;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import java.util.Map;

/** 64-bit hashes of the values that are compared. No hash equals {@link ComparedLogs#ABSENT}. */
final class Hashes {
    /** The keys are compared apart from the values, and a changelog does not have the pURIs. */
    private static final Puri ANY_PURI = Puri.parse("any:any:any");

    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    private Hashes() {}

    /** Returns the hash of the fields that every copy of a row has. */
    static long of(Row row) {
        return present(RowHash.of(ANY_PURI, row));
    }

    /** Returns the hash of all fields of a row, the position included. */
    static long withPosition(Row row) {
        return mix(of(row), of(row.position()));
    }

    static long of(Position position) {
        return present(RowHash.ofText(position.toString()));
    }

    /** Returns the hash of the fields that a document has in common with its row. */
    static long ofDocument(Row row) {
        return present(RowHash.ofText(RowFields.expectedOfDocument(row).toString()));
    }

    /** Returns the hash of a document: that of its row and that of its attributes, mixed. */
    static long of(Document document) {
        Map<String, String> fields = RowFields.of(document);
        fields.remove("attributes");
        return mix(present(RowHash.ofText(fields.toString())), of(document.attributes()));
    }

    static long of(Map<String, String> attributes) {
        return present(RowHash.ofText(RowFields.canonicalText(attributes)));
    }

    static long mix(long first, long second) {
        return present(Long.rotateLeft(first * MULTIPLIER, 32) ^ second);
    }

    static long present(long hash) {
        return hash == ComparedLogs.ABSENT ? 1 : hash;
    }
}
