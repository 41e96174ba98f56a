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
import org.apache.avro.SchemaCompatibility;

/** Registers the schemas of the registry's topics with a schema registry, and checks the registered schemas. */
public final class RegistrySchemas {
    private static final Compatibility LEVEL = Compatibility.FULL_TRANSITIVE;

    private RegistrySchemas() {}

    /**
     * Registers the schema of each topic and sets the compatibility of its subject to FULL_TRANSITIVE, so that each
     * release can read the records of every other release. By default a schema registry may not check compatibility at
     * all (Apicurio: NONE).
     *
     * @param ownedNamespaces namespaces that have their own events topic
     * @return schema ids by subject
     * @throws org.apache.kafka.common.errors.SerializationException if the registry is unreachable or
     *     refuses; the message names the subject and the URL
     */
    public static Map<String, Integer> register(ConfluentSchemaRegistry registry, Set<String> ownedNamespaces) {
        Map<String, Integer> ids = new LinkedHashMap<>();
        schemasBySubject(ownedNamespaces).forEach((subject, schema) -> {
            ids.put(subject, registry.register(subject, schema));
            registry.setCompatibility(subject, LEVEL);
        });
        return ids;
    }

    /**
     * Checks that each subject has the latest schema and the compatibility that {@link #register} sets, and that all
     * its versions are compatible with that schema. A subject without a compatibility of its own has the registry's.
     *
     * @param ownedNamespaces namespaces that have their own events topic
     * @return a sentence for each mistake, with the remedy; empty if there are none
     * @throws org.apache.kafka.common.errors.SerializationException if the registry is unreachable or
     *     refuses; the message names the subject and the URL
     */
    public static List<String> check(ConfluentSchemaRegistry registry, Set<String> ownedNamespaces) {
        List<String> mistakes = new ArrayList<>();
        schemasBySubject(ownedNamespaces).forEach((subject, schema) -> {
            try {
                checkLatest(subject, schema, registry.latest(subject), registry, mistakes);
                checkCompatibility(subject, registry.compatibility(subject), mistakes);
                for (int version : registry.versions(subject)) {
                    checkVersion(subject, schema, version, registry, mistakes);
                }
            } catch (UnknownSchemaException e) {
                mistakes.add("the subject " + subject + " has no schema that can be read (" + e.getMessage()
                        + "): register it with puri topics create");
            }
        });
        return mistakes;
    }

    private static void checkLatest(
            String subject, Schema schema, Registered latest, ConfluentSchemaRegistry registry, List<String> mistakes) {
        if (latest.schema().equals(schema)) {
            return;
        }
        String mistake = "the latest schema of the subject " + subject + " (version " + latest.version() + ", id "
                + latest.id() + ") is not the one of this build: ";
        mistakes.add(
                isRegistered(registry, subject, schema)
                        ? mistake + "a newer release or another client registered it later; check with the newest"
                                + " puri, and set auto.register.schemas=false for other clients"
                        : mistake + "register the schema of this build with puri topics create");
    }

    /** Checks one version: somebody may have registered it while the compatibility was another one. */
    private static void checkVersion(
            String subject, Schema schema, int version, ConfluentSchemaRegistry registry, List<String> mistakes) {
        String remedy = "; find its writer, and delete the version from the schema registry: DELETE /subjects/"
                + subject + "/versions/" + version;
        try {
            Schema registered = registry.version(subject, version).schema();
            if (!canRead(schema, registered) || !canRead(registered, schema)) {
                mistakes.add("version " + version + " of the subject " + subject
                        + " is not compatible with the schema of this build, so readers cannot read its records"
                        + remedy);
            }
        } catch (UnknownSchemaException e) {
            mistakes.add("version " + version + " of the subject " + subject + " cannot be used: " + e.getMessage()
                    + remedy);
        }
    }

    private static boolean canRead(Schema reader, Schema writer) {
        return SchemaCompatibility.checkReaderWriterCompatibility(reader, writer)
                        .getType()
                == SchemaCompatibility.SchemaCompatibilityType.COMPATIBLE;
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
                    + ", which prevents schemas that readers cannot read: set it with puri topics create");
        }
    }

    /** Returns the schemas by subject, in the form in which they are registered. */
    private static Map<String, Schema> schemasBySubject(Set<String> ownedNamespaces) {
        Map<String, Schema> byTopic = new LinkedHashMap<>();
        byTopic.put(Topics.EVENTS, IdentityEvent.getClassSchema());
        for (String namespace : ownedNamespaces) {
            byTopic.put(Topics.eventsTopicOf(namespace), IdentityEvent.getClassSchema());
        }
        byTopic.put(Topics.IDENTITIES, IdentityRow.getClassSchema());
        byTopic.put(Topics.DOCUMENTS, Document.getClassSchema());
        byTopic.put(Topics.REJECTIONS, Rejection.getClassSchema());
        byTopic.put(Topics.COLLECTIONS, CollectionsEntry.getClassSchema());
        Map<String, Schema> bySubject = new LinkedHashMap<>();
        byTopic.forEach((topic, schema) -> bySubject.put(topic + "-value", RegisteredForm.of(schema)));
        return bySubject;
    }
}
