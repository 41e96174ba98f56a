package dev.puri.registry;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.Document;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.Compatibility;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.avro.Schema;

/** The schemas of the registry's topics, made known to a schema registry. */
public final class RegistrySchemas {
    private RegistrySchemas() {}

    /**
     * Registers every topic's schema and holds its subject to FULL_TRANSITIVE: any release reads what any
     * other wrote. A schema registry left alone may check nothing (Apicurio's default is NONE).
     *
     * @param ownedNamespaces namespaces with an events topic of their own
     * @return ids by subject
     * @throws org.apache.kafka.common.errors.SerializationException when the registry is out of reach or
     *     refuses; the message names the subject and the URL
     */
    public static Map<String, Integer> register(ConfluentSchemaRegistry registry, Set<String> ownedNamespaces) {
        Map<String, Schema> schemas = new LinkedHashMap<>();
        schemas.put(Topics.EVENTS, IdentityEvent.getClassSchema());
        for (String namespace : ownedNamespaces) {
            schemas.put(Topics.eventsOf(namespace), IdentityEvent.getClassSchema());
        }
        schemas.put(Topics.IDENTITIES, IdentityRow.getClassSchema());
        schemas.put(Topics.DOCUMENTS, Document.getClassSchema());
        schemas.put(Topics.REJECTIONS, Rejection.getClassSchema());
        schemas.put(Topics.COLLECTIONS, CollectionsEntry.getClassSchema());
        Map<String, Integer> ids = new LinkedHashMap<>();
        schemas.forEach((topic, schema) -> {
            String subject = topic + "-value";
            ids.put(subject, registry.register(subject, schema));
            registry.setCompatibility(subject, Compatibility.FULL_TRANSITIVE);
        });
        return ids;
    }
}
