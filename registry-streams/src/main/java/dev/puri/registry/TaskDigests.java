package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The digests of all rows and all documents that a registrar task has written to its partition. */
record TaskDigests(PartitionDigest identities, PartitionDigest documents) {
    static final TaskDigests EMPTY = new TaskDigests(PartitionDigest.EMPTY, PartitionDigest.EMPTY);

    /**
     * Returns the digests after the row of a pURI has changed.
     *
     * @param before the row before; null if there was none
     * @param after the row now; null if there is none
     */
    TaskDigests withRow(Puri puri, @Nullable Row before, @Nullable Row after) {
        if (Objects.equals(before, after)) {
            return this;
        }
        PartitionDigest digest = before == null ? identities : identities.minus(RowHash.of(puri, before));
        return new TaskDigests(after == null ? digest : digest.plus(RowHash.of(puri, after)), documents);
    }

    /**
     * Returns the digests after the document of a pURI was written or deleted.
     *
     * @param before the document before; null if there was none
     * @param after the document now; null if there is none
     */
    TaskDigests withDocument(Puri puri, @Nullable Document before, @Nullable Document after) {
        PartitionDigest digest = before == null ? documents : documents.minus(RowHash.of(puri, before));
        return new TaskDigests(identities, after == null ? digest : digest.plus(RowHash.of(puri, after)));
    }
}
