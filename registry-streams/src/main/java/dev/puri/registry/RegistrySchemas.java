package dev.puri.registry;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.Document;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.Compatibility;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.ConfluentSchemaRegistry.Registered;
import dev.puri.schemas.serde.RegisteredForm;
import dev.puri.schemas.serde.UnknownSchemaException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.avro.Schema;

/** The schemas of the registry's topics, registered with a schema registry and checked against it. */
public final class RegistrySchemas {
    private static final Compatibility LEVEL = Compatibility.FULL_TRANSITIVE;

    private RegistrySchemas() {}

    /**
     * Registers every topic's schema and sets the compatibility FULL_TRANSITIVE on its subject: any release reads the
     * records of any other. The default of a schema registry may be no check (Apicurio: NONE).
     *
     * @param ownedNamespaces namespaces with an events topic of their own
     * @return ids by subject
     * @throws org.apache.kafka.common.errors.SerializationException if the registry is unreachable or
     *     refuses; the message names the subject and the URL
     */
    public static Map<String, Integer> register(ConfluentSchemaRegistry registry, Set<String> ownedNamespaces) {
        Map<String, Integer> ids = new LinkedHashMap<>();
        bySubject(ownedNamespaces).forEach((subject, schema) -> {
            ids.put(subject, registry.register(subject, schema));
            registry.setCompatibility(subject, LEVEL);
        });
        return ids;
    }

    /**
     * Compares every subject with the one that {@link #register} would create.
     *
     * @param ownedNamespaces namespaces with an events topic of their own
     * @return a sentence for each mistake, with the remedy; empty if there are none
     * @throws org.apache.kafka.common.errors.SerializationException if the registry is unreachable or
     *     refuses; the message names the subject and the URL
     */
    public static List<String> check(ConfluentSchemaRegistry registry, Set<String> ownedNamespaces) {
        List<String> mistakes = new ArrayList<>();
        bySubject(ownedNamespaces).forEach((subject, schema) -> {
            try {
                checkLatest(subject, schema, registry.latest(subject), registry, mistakes);
                checkCompatibility(subject, registry.compatibility(subject), mistakes);
            } catch (UnknownSchemaException e) {
                mistakes.add("the subject " + subject + " has no schema: register it with puri topics create");
            }
        });
        return mistakes;
    }

    private static void checkLatest(
            String subject, Schema schema, Registered latest, ConfluentSchemaRegistry registry, List<String> mistakes) {
        if (latest.schema().equals(schema)) {
            return;
        }
        String found = "the latest schema of the subject " + subject + " (version " + latest.version() + ", id "
                + latest.id() + ") is not the one of this build: ";
        mistakes.add(
                isRegistered(registry, subject, schema)
                        ? found + "a newer release or another client registered it after ours; check with the newest"
                                + " puri, and set auto.register.schemas=false for other clients"
                        : found + "register this build's with puri topics create");
    }

    private static boolean isRegistered(ConfluentSchemaRegistry registry, String subject, Schema schema) {
        try {
            registry.idOf(subject, schema);
            return true;
        } catch (UnknownSchemaException e) {
            return false;
        }
    }

    private static void checkCompatibility(String subject, String level, List<String> mistakes) {
        if (!level.equals(LEVEL.name())) {
            mistakes.add("the subject " + subject + " has the compatibility " + level + " and must have " + LEVEL
                    + ", or a schema that readers cannot read may be registered: set it with puri topics create");
        }
    }

    /** Returns the schemas by subject, in the form in which they are registered. */
    private static Map<String, Schema> bySubject(Set<String> ownedNamespaces) {
        Map<String, Schema> schemas = new LinkedHashMap<>();
        schemas.put(Topics.EVENTS, IdentityEvent.getClassSchema());
        for (String namespace : ownedNamespaces) {
            schemas.put(Topics.eventsOf(namespace), IdentityEvent.getClassSchema());
        }
        schemas.put(Topics.IDENTITIES, IdentityRow.getClassSchema());
        schemas.put(Topics.DOCUMENTS, Document.getClassSchema());
        schemas.put(Topics.REJECTIONS, Rejection.getClassSchema());
        schemas.put(Topics.COLLECTIONS, CollectionsEntry.getClassSchema());
        Map<String, Schema> bySubject = new LinkedHashMap<>();
        schemas.forEach((topic, schema) -> bySubject.put(topic + "-value", RegisteredForm.of(schema)));
        return bySubject;
    }
}
