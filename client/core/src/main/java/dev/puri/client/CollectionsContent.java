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
 * <p>While an unreadable record may contain a new prefix, no collection can declare a new prefix, because two
 * collections could get the same one. A declaration with the key of an unreadable record is refused, too.
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
            if (hasNewPrefix(declaration) && mayContainNewPrefix(record)) {
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

    private boolean hasNewPrefix(Declaration declaration) {
        return declaration instanceof Collection collection
                && collection.prefix() != null
                && !hasKnownPrefix(collection.qualifiedName());
    }

    /**
     * Returns whether a record may contain a prefix that no readable declaration has. A record without a key was never
     * a declaration, and a collection never changes its prefix.
     */
    private boolean mayContainNewPrefix(UnreadableDeclaration record) {
        String key = record.declarationKey();
        return record.key() != null && (key == null || !hasKnownPrefix(key));
    }

    private boolean hasKnownPrefix(String key) {
        Collection existing = declarations.collection(key);
        return existing != null && existing.prefix() != null;
    }

    /**
     * Returns the records that {@link CollectionRegistry#repair} writes.
     *
     * <p>A record is replaced by the given declaration with its key, or by the readable declaration with its key, or by
     * a tombstone.
     *
     * @param replacing declarations that replace unreadable records with the same key; other declarations are ignored
     * @throws CollectionRegistryException if a replacement conflicts with a readable declaration
     */
    public List<Repair> repairs(List<? extends Declaration> replacing) {
        List<Declaration> replacements = new ArrayList<>();
        List<Repair> repairs = new ArrayList<>();
        for (UnreadableDeclaration record : unreadable) {
            if (record.key() == null) {
                continue;
            }
            String key = record.declarationKey();
            Declaration replacement = replacing.stream()
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
