package dev.puri.projection;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.JsonBody;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Owner;
import java.io.IOException;
import java.util.List;

/** Writes the declared collections and namespaces as JSON, the response of {@code GET /v1/collections}. */
public final class CollectionsView {
    /**
     * The maximum number of collections, and of namespaces, that are listed in the order of their names; {@code total}
     * counts all collections.
     */
    public static final int MAX_LISTED = 1000;

    private CollectionsView() {}

    /**
     * Writes the whole response body.
     *
     * @throws IOException if the generator throws it
     */
    public static void write(JsonGenerator json, Declarations declarations) throws IOException {
        List<Collection> collections = declarations.collections();
        json.writeStartObject();
        json.writeArrayFieldStart("collections");
        for (Collection collection : collections.subList(0, Math.min(MAX_LISTED, collections.size()))) {
            write(json, collection, declarations.ownsTopic(collection.namespace()));
        }
        json.writeEndArray();
        json.writeNumberField("total", collections.size());
        List<Namespace> namespaces = declarations.namespaces();
        json.writeArrayFieldStart("namespaces");
        for (Namespace namespace : namespaces.subList(0, Math.min(MAX_LISTED, namespaces.size()))) {
            json.writeStartObject();
            json.writeStringField("namespace", namespace.name());
            json.writeStringField("eventsTopic", namespace.eventsTopic());
            write(json, namespace.mode());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void write(JsonGenerator json, WriteMode mode) throws IOException {
        json.writeStringField("mode", mode.name());
        if (mode.importer() != null) {
            json.writeStringField("importer", mode.importer());
        }
    }

    private static void write(JsonGenerator json, Collection collection, boolean ownsTopic) throws IOException {
        json.writeStartObject();
        json.writeStringField("collection", collection.qualifiedName());
        if (collection.prefix() != null) {
            json.writeStringField("prefix", collection.prefix().text());
        }
        json.writeFieldName("owners");
        JsonBody.writeValue(
                json, collection.owners().stream().map(Owner::text).sorted().toList());
        json.writeBooleanField("search", collection.search());
        SearchedAttributes attributes = collection.attributes();
        if (!attributes.equals(SearchedAttributes.DEFAULT)) {
            json.writeFieldName("boost");
            JsonBody.writeValue(json, attributes.boost());
            json.writeFieldName("shown");
            JsonBody.writeValue(json, attributes.shown());
        }
        json.writeBooleanField("public", collection.isPublic());
        json.writeBooleanField("retired", collection.retired());
        write(json, collection.mode());
        json.writeStringField("eventsTopic", new Namespace(collection.namespace(), ownsTopic).eventsTopic());
        json.writeStringField("description", collection.description());
        json.writeEndObject();
    }
}
