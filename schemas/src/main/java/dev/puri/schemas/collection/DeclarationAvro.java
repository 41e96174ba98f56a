package dev.puri.schemas.collection;

import dev.puri.schemas.avro.CollectionEntry;
import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.NamespaceEntry;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Converts a {@link Declaration} to and from Avro. */
public final class DeclarationAvro {
    private DeclarationAvro() {}

    /** Converts a declaration to a value of {@code puri.collections.v1}. */
    public static CollectionsEntry toAvro(Declaration declaration) {
        if (declaration instanceof Collection c) {
            return new CollectionsEntry(new CollectionEntry(
                    c.namespace(),
                    c.name(),
                    c.prefix() == null ? null : c.prefix().text(),
                    c.owners().stream().map(Owner::text).sorted().toList(),
                    c.search(),
                    c.isPublic(),
                    c.description(),
                    c.retired(),
                    c.attributes().boost(),
                    List.copyOf(c.attributes().shown()),
                    c.mode().name(),
                    c.mode().importer()));
        }
        Namespace n = (Namespace) declaration;
        return new CollectionsEntry(new NamespaceEntry(
                n.name(), n.ownsTopic(), n.mode().name(), n.mode().importer()));
    }

    /**
     * Converts a value of {@code puri.collections.v1} to a declaration.
     *
     * @throws IllegalArgumentException if a field is invalid; the message contains the invalid value
     */
    public static Declaration fromAvro(CollectionsEntry avro) {
        if (avro.getEntry() instanceof CollectionEntry c) {
            return new Collection(
                    c.getNamespace(),
                    c.getCollection(),
                    c.getPrefix() == null ? null : Prefix.parse(c.getPrefix()),
                    c.getOwners().stream().map(Owner::parse).collect(Collectors.toUnmodifiableSet()),
                    c.getSearch(),
                    SearchedAttributes.of(c.getBoost(), Set.copyOf(c.getShown())),
                    c.getPublic$(),
                    c.getDescription(),
                    c.getRetired(),
                    new WriteMode(c.getMode(), c.getImporter()));
        }
        if (avro.getEntry() instanceof NamespaceEntry n) {
            return new Namespace(n.getNamespace(), n.getOwnsTopic(), new WriteMode(n.getMode(), n.getImporter()));
        }
        throw new IllegalArgumentException(
                "a declaration of unknown kind: " + avro.getEntry().getClass().getName());
    }
}
