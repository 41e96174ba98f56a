package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A name and its row as the numbers of which {@link RowCodec} makes a record. Reused: this class fills it from a
 * {@link Row}, {@link RecordParser} from a record of the topic.
 *
 * <p>Used by one thread, not necessarily the one that writes the table.
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

    /** Null unless the row is merged. */
    @Nullable
    Puri survivor;

    /** Of a merged row, the number of the survivor's collection. */
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
     * @param identifierAt the offset of its last segment
     */
    void setName(byte[] name, int identifierAt) {
        nameHash = Hash.of(name, seed);
        identifierLength = Identifier.pack(name, identifierAt, name.length, identifier, 0);
        // Adjacent records often have the same collection, which is then found without decoding its text.
        Words.Collection before = words.collections.wordIfAny(collection);
        if (before != null && before.begins(name, identifierAt)) {
            words.collections.use(collection);
        } else {
            collection = words.collections.intern(new String(name, 0, identifierAt - 1, StandardCharsets.US_ASCII));
        }
    }

    /**
     * Like {@link #setName}, for a decimal identifier in the collection of the previous row, as most names are. Such a
     * name is canonical without a check of each character.
     *
     * @return false, and nothing is set, for another name
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
