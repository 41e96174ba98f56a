package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A row under its name on its way into the table, as the numbers that its record is made of. Filled
 * again and again, from a {@link Row} here or from a record of the topic by {@link RecordParser}.
 *
 * <p>Used by one thread, which need not be the one that writes.
 */
final class RawRow {
    private final Words words;
    private final long seed;

    long nameHash;
    int collection;
    final byte[] identifier = new byte[Identifier.mostBytes(Puri.MAX_IDENTIFIER_BYTES)];
    int identifierLength;

    boolean hasHandle;
    long handleHash;
    long handleHigh;
    int handleLow;
    int prefix;

    /** The ordinal of {@link Row.Status}. */
    int status;

    long uuidHigh;
    long uuidLow;
    int owner;
    int shard;
    long epoch;
    long createdMillis;
    long changedMillis;
    int topic;
    int partition;
    long offset;

    /** Null but of a merged row. */
    @Nullable
    Puri survivor;

    /** Of a merged row: the number of its survivor's collection. */
    int survivorCollection;

    RawRow(Words words, long seed) {
        this.words = words;
        this.seed = seed;
    }

    void set(Puri puri, Row row) {
        byte[] name = puri.toBytes();
        setName(name, name.length - puri.identifier().length());
        hasHandle = false;
        if (row.handle() != null) {
            HandleKey handle = HandleKey.of(row.handle(), words, seed);
            setHandle(handle.high(), handle.low(), handle.prefix());
        }
        status = row.status().ordinal();
        uuidHigh = row.uuid().getMostSignificantBits();
        uuidLow = row.uuid().getLeastSignificantBits();
        owner = words.owners.intern(row.owner().text());
        shard = words.shards.intern(row.shard().text());
        epoch = row.epoch();
        createdMillis = row.createdAt().toEpochMilli();
        changedMillis = row.changedAt().toEpochMilli();
        topic = words.topics.intern(row.position().topic());
        partition = row.position().partition();
        offset = row.position().offset();
        survivor = row.mergedInto();
        if (survivor != null) {
            survivorCollection = words.collections.intern(survivor.qualifiedCollection());
        }
    }

    /**
     * @param name canonical
     * @param identifierAt where its last segment begins
     */
    void setName(byte[] name, int identifierAt) {
        nameHash = Hash.of(name, seed);
        identifierLength = Identifier.pack(name, identifierAt, name.length, identifier, 0);
        // Neighbours in a topic are often of one collection, which is then found without making its text.
        Words.Collection before = words.collections.wordIfAny(collection);
        if (before != null && before.begins(name, identifierAt)) {
            words.collections.use(collection);
        } else {
            collection = words.collections.intern(new String(name, 0, identifierAt - 1, StandardCharsets.US_ASCII));
        }
    }

    /**
     * The same of a name that is a number in the collection of the row before, which most in a topic are: it is then
     * known to be canonical without a look at every character.
     *
     * @return false, and nothing is set, when it is another
     */
    boolean setNumberOfSameCollection(byte[] name) {
        Words.Collection before = words.collections.wordIfAny(collection);
        if (before == null) {
            return false;
        }
        byte[] begin = before.bytes;
        if (name.length <= begin.length || !Arrays.equals(name, 0, begin.length, begin, 0, begin.length)) {
            return false;
        }
        int end = Identifier.packNumber(name, begin.length, name.length, identifier, 0);
        if (end < 0) {
            return false;
        }
        identifierLength = end;
        nameHash = Hash.of(name, seed);
        words.collections.use(collection);
        return true;
    }

    void setHandle(long high, int low, int prefix) {
        hasHandle = true;
        handleHigh = high;
        handleLow = low;
        this.prefix = prefix;
        handleHash = HandleKey.hash(high, low, prefix, seed);
    }
}
