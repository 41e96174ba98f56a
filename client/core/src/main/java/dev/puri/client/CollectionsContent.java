package dev.puri.client;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Declared;
import dev.puri.schemas.collection.Declared.Conflict;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The content of {@code puri.collections.v1}.
 *
 * <p>A record that cannot be read may hold any prefix. As long as there is one, no prefix is given for the first time, because it
 * could be given twice; everything else can be declared.
 *
 * @param declarations the declarations that can be read
 * @param unreadable the records that cannot be read, in the order of the log
 */
public record CollectionsContent(Declarations declarations, List<UnreadableDeclaration> unreadable) {
    public CollectionsContent {
        unreadable = List.copyOf(unreadable);
    }

    /** As {@link Declarations#declare}, and refuses what an unreadable record may contradict. */
    Declared declare(List<? extends Declaration> wanted) {
        Declared declared = declarations.declare(wanted);
        if (!(declared instanceof Declared.Changes changes)) {
            return declared;
        }
        List<Conflict> conflicts = new ArrayList<>();
        for (Declaration write : changes.writes()) {
            Conflict conflict = conflict(write);
            if (conflict != null) {
                conflicts.add(conflict);
            }
        }
        return conflicts.isEmpty() ? declared : new Declared.Conflicts(conflicts);
    }

    private @Nullable Conflict conflict(Declaration write) {
        for (UnreadableDeclaration each : unreadable) {
            if (write.key().equals(each.declarationKey())) {
                return new Conflict(
                        write.key(),
                        "name",
                        "its record in " + each.place() + " cannot be read, so nobody knows what it must keep; repair"
                                + " it with: puri collections repair");
            }
            if (isNewPrefix(write) && mayHoldAPrefix(each)) {
                return new Conflict(
                        write.key(),
                        "prefix",
                        "no new prefix is given while the record in " + each.place() + " (key " + each.printableKey()
                                + ") cannot be read, for it may hold that prefix; repair it with: puri collections"
                                + " repair");
            }
        }
        return null;
    }

    private boolean isNewPrefix(Declaration write) {
        return write instanceof Collection collection
                && collection.prefix() != null
                && !isPrefixKnown(collection.qualifiedName());
    }

    /** A record without a key was never a declaration, and a collection that has a prefix keeps it. */
    private boolean mayHoldAPrefix(UnreadableDeclaration record) {
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
     * @param known declarations that belong under the keys of unreadable records; others are ignored
     * @throws CollectionRegistryException if one of these conflicts with a readable declaration
     */
    public List<Repair> repairs(List<? extends Declaration> known) {
        List<Declaration> used = new ArrayList<>();
        List<Repair> repairs = new ArrayList<>();
        for (UnreadableDeclaration each : unreadable) {
            if (each.key() == null) {
                continue;
            }
            String key = each.declarationKey();
            Declaration given = known.stream()
                    .filter(one -> one.key().equals(key))
                    .findFirst()
                    .orElse(null);
            if (given != null) {
                used.add(given);
            }
            repairs.add(new Repair(each, given != null || key == null ? given : declarations.byKey(key)));
        }
        if (declarations.declare(used) instanceof Declared.Conflicts conflicts) {
            throw new CollectionRegistryException("nothing was repaired:\n" + conflicts, null);
        }
        return repairs;
    }

    /**
     * An unreadable record and its replacement.
     *
     * @param replacement the declaration that is written with its key; null for a tombstone
     */
    public record Repair(
            UnreadableDeclaration record, @Nullable Declaration replacement) {}
}
