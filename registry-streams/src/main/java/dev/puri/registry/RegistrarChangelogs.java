package dev.puri.registry;

import dev.puri.schemas.log.Row;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the changelogs of the registrar's stores, for programs that compare copies of the identities with the
 * registrar. Partition N of a changelog is of the pURIs of partition N of the other topics. The keys are hashes, so a
 * changelog does not contain pURIs.
 */
public final class RegistrarChangelogs {
    private RegistrarChangelogs() {}

    /**
     * The registration of a pURI.
     *
     * @param row the identity; null if there is none or it was erased
     * @param hasDocument whether the pURI has a document, whose attributes are in the changelog of the texts
     * @param firstEvent id of the first event that was applied to the pURI; null if later events have displaced it
     */
    public record StoredRegistration(
            @Nullable Row row,
            boolean hasDocument,
            @Nullable UUID firstEvent) {}

    /** Returns the name of the changelog of the registrations. */
    public static String registrationsTopic(String applicationId) {
        return topic(applicationId, RegistryTopology.REGISTRATIONS_STORE);
    }

    /** Returns the name of the changelog of the texts: the attributes of each pURI that has a document. */
    public static String textsTopic(String applicationId) {
        return topic(applicationId, RegistryTopology.TEXTS_STORE);
    }

    /** Returns the name of the changelog of the parked events. */
    public static String parkedTopic(String applicationId) {
        return topic(applicationId, RegistryTopology.PARKED_STORE);
    }

    private static String topic(String applicationId, String store) {
        return applicationId + '-' + store + "-changelog";
    }

    /** Returns the key of a pURI in the changelogs of the registrations and of the texts, 16 bytes. */
    public static byte[] key(byte[] puri) {
        return StoreKey.of(puri);
    }

    /** Returns the {@link #key} of a pURI from the key of one of its parked events. */
    public static byte[] keyOfParked(byte[] parkedKey) {
        return Parking.storeKeyOf(parkedKey);
    }

    /**
     * Decodes a value of the registrations.
     *
     * @throws IllegalStateException if a newer release wrote the value
     * @throws IllegalArgumentException if the value has too few or too many bytes
     */
    public static StoredRegistration registration(byte[] value) {
        Registration registration = RegistrationCodec.decode(value);
        List<UUID> events = registration.recentEvents();
        boolean hasAllEvents = !events.isEmpty() && events.size() < Registration.REMEMBERED_EVENTS;
        return new StoredRegistration(
                registration.row(), registration.hasDocument(), hasAllEvents ? events.get(0) : null);
    }

    /**
     * Decodes a value of the texts.
     *
     * @throws IllegalStateException if a newer release wrote the value
     * @throws IllegalArgumentException if the value has too few or too many bytes
     */
    public static Map<String, String> attributes(byte[] value) {
        return AttributesCodec.decode(value);
    }
}
