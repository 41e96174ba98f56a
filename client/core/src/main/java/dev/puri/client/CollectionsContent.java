package dev.puri.client;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationResult;
import dev.puri.schemas.collection.DeclarationResult.Conflict;
import dev.puri.schemas.collection.Declarations;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The declarations of collections in the topic {@code puri.collections.v1}, and the records that cannot be read.
 *
 * <p>An unreadable record may contain any prefix. So while there is an unreadable record, no collection can declare a
 * new prefix: two collections could get the same prefix. All other declarations are possible.
 *
 * @param declarations the readable declarations
 * @param unreadable the unreadable records, in the order of the log
 */
public record CollectionsContent(Declarations declarations, List<UnreadableDeclaration> unreadable) {
    public CollectionsContent {
        unreadable = List.copyOf(unreadable);
    }

    /** Like {@link Declarations#plan}, but also refuses declarations that an unreadable record may contradict. */
    DeclarationResult plan(List<? extends Declaration> requested) {
        DeclarationResult planned = declarations.plan(requested);
        if (!(planned instanceof DeclarationResult.Changes changes)) {
            return planned;
        }
        List<Conflict> conflicts = new ArrayList<>();
        for (Declaration declaration : changes.writes()) {
            Conflict conflict = conflictWithUnreadable(declaration);
            if (conflict != null) {
                conflicts.add(conflict);
            }
        }
        return conflicts.isEmpty() ? planned : new DeclarationResult.Conflicts(conflicts);
    }

    private @Nullable Conflict conflictWithUnreadable(Declaration declaration) {
        for (UnreadableDeclaration record : unreadable) {
            if (declaration.key().equals(record.declarationKey())) {
                return new Conflict(
                        declaration.key(),
                        "name",
                        "its record in " + record.place()
                                + " cannot be read, so it is unknown which of its values must not change;"
                                + " repair the record with: puri collections repair");
            }
            if (isNewPrefix(declaration) && mayContainNewPrefix(record)) {
                return new Conflict(
                        declaration.key(),
                        "prefix",
                        "no new prefix can be declared while the record in " + record.place() + " (key "
                                + record.printableKey()
                                + ") cannot be read, because that record may contain the same prefix; repair the record with:"
                                + " puri collections repair");
            }
        }
        return null;
    }

    private boolean isNewPrefix(Declaration declaration) {
        return declaration instanceof Collection collection
                && collection.prefix() != null
                && !isPrefixKnown(collection.qualifiedName());
    }

    /**
     * Returns whether a record may contain a prefix that no readable declaration has. A record without a key was never
     * a declaration, and a collection never changes its prefix.
     */
    private boolean mayContainNewPrefix(UnreadableDeclaration record) {
        String key = record.declarationKey();
        return record.key() != null && (key == null || !isPrefixKnown(key));
    }

    private boolean isPrefixKnown(String key) {
        Collection existing = declarations.collection(key);
        return existing != null && existing.prefix() != null;
    }

    /**
     * Returns the records that {@link CollectionRegistry#repair} writes.
     *
     * @param known declarations that replace unreadable records with the same key; other declarations are ignored
     * @throws CollectionRegistryException if a replacement conflicts with a readable declaration
     */
    public List<Repair> repairs(List<? extends Declaration> known) {
        List<Declaration> replacements = new ArrayList<>();
        List<Repair> repairs = new ArrayList<>();
        for (UnreadableDeclaration record : unreadable) {
            if (record.key() == null) {
                continue;
            }
            String key = record.declarationKey();
            Declaration replacement = known.stream()
                    .filter(declaration -> declaration.key().equals(key))
                    .findFirst()
                    .orElse(null);
            if (replacement != null) {
                replacements.add(replacement);
            }
            repairs.add(new Repair(record, replacement != null || key == null ? replacement : declarations.byKey(key)));
        }
        if (declarations.plan(replacements) instanceof DeclarationResult.Conflicts conflicts) {
            throw new CollectionRegistryException("nothing was repaired:\n" + conflicts, null);
        }
        return repairs;
    }

    /**
     * An unreadable record and its replacement.
     *
     * @param replacement declaration that is written with the record's key; null to write a tombstone
     */
    public record Repair(
            UnreadableDeclaration record, @Nullable Declaration replacement) {}
}
