package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Row;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The digests of one registrar task, and whether a change since their last publication is due to be published. */
final class DigestState {
    /** The digests are published when the last change is this old, so that servers can check their copies at rest. */
    static final Duration REST = Duration.ofSeconds(1);

    /** Null if they are unknown; see {@link TaskState}. */
    private @Nullable TaskDigests digests;

    private boolean hasUnpublishedChange = true;
    private long lastChangeAt;

    /**
     * Creates the state of a task that starts. The last change may be unpublished, because the task may have moved here
     * before its publication.
     *
     * @param digests null if they are unknown
     * @param now the time in ms since the epoch
     */
    DigestState(@Nullable TaskDigests digests, long now) {
        this.digests = digests;
        this.lastChangeAt = now;
    }

    /** Returns the digests; null if they are unknown. */
    @Nullable
    TaskDigests digests() {
        return digests;
    }

    /** Whether the digests are known. */
    boolean isKnown() {
        return digests != null;
    }

    /** Notes that an event was applied, which may have changed the row of its pURI. */
    void onApplied(Puri puri, @Nullable Row before, @Nullable Row after, long now) {
        if (digests != null) {
            digests = digests.withRow(puri, before, after);
            hasUnpublishedChange = true;
            lastChangeAt = now;
        }
    }

    /** Notes that a document was written or deleted. */
    void onDocument(Puri puri, @Nullable Document before, @Nullable Document after) {
        if (digests != null) {
            digests = digests.withDocument(puri, before, after);
        }
    }

    /** Notes that the digests are unknown from now on. They cannot be computed again, see {@code RATIONALE.md}. */
    void discard() {
        digests = null;
    }

    /** Whether a change since the last publication is unpublished. */
    boolean hasUnpublishedChange() {
        return hasUnpublishedChange;
    }

    /** Whether the last unpublished change is old enough to be published. */
    boolean isPublicationDue(long now) {
        return hasUnpublishedChange && now - lastChangeAt >= REST.toMillis();
    }

    void onPublished() {
        hasUnpublishedChange = false;
    }
}
