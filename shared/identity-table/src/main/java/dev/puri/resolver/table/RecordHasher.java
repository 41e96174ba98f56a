package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.kafka.common.utils.Utils;

/**
 * Computes {@link RowHash} from packed records, without a {@link Row}. The caller must prevent that the words of the
 * records are removed, see {@link Dictionaries#hold}. Not thread-safe.
 */
final class RecordHasher {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final int MERGED = Row.Status.MERGED.ordinal();

    private final Dictionaries dictionaries;

    /** The canonical pURI of the last record that {@link #hash(byte[], int)} hashed. */
    private final byte[] puri = new byte[Puri.MAX_BYTES];

    private int puriLength;
    private final byte[] survivor = new byte[Puri.MAX_BYTES];

    RecordHasher(Dictionaries dictionaries) {
        this.dictionaries = dictionaries;
    }

    /**
     * Returns the hash of the record that begins at an offset, and notes its pURI.
     *
     * @throws RuntimeException if the record is damaged. The method may also return any hash for a damaged record
     */
    long hash(byte[] bytes, int begin) {
        puriLength = unpack(bytes, RowCodec.collectionOffset(bytes, begin), puri);
        return hash(bytes, begin, RowHash.ofText(puri, 0, puriLength));
    }

    /**
     * Returns the hash of the record that begins at an offset.
     *
     * @param puriHash {@link RowHash#ofText} of its pURI
     */
    long hash(byte[] bytes, int begin, long puriHash) {
        int uuidOffset = Identifier.end(bytes, Varint.end(bytes, RowCodec.collectionOffset(bytes, begin)));
        int ownerOffset = uuidOffset + 16;
        int shardOffset = Varint.end(bytes, ownerOffset);
        int epochOffset = Varint.end(bytes, shardOffset);
        int createdOffset = Varint.end(bytes, epochOffset);
        int changedOffset = Varint.end(bytes, createdOffset);
        long uuidHigh = (long) LONGS.get(bytes, uuidOffset);
        long createdMillis = RowCodec.timeOf(uuidHigh) + Varint.unzigzag(Varint.get(bytes, createdOffset));
        int status = RowCodec.statusOrdinal(bytes, begin);
        return RowHash.of(
                puriHash,
                uuidHigh,
                (long) LONGS.get(bytes, uuidOffset + Long.BYTES),
                dictionaries.owners.word((int) Varint.get(bytes, ownerOffset)).hash,
                dictionaries.shards.word((int) Varint.get(bytes, shardOffset)).hash,
                handleHash(bytes, begin),
                status,
                Varint.get(bytes, epochOffset),
                createdMillis,
                createdMillis + Varint.unzigzag(Varint.get(bytes, changedOffset)),
                status == MERGED ? survivorHash(bytes, RowCodec.survivorOffset(bytes, epochOffset)) : RowHash.NONE);
    }

    private long handleHash(byte[] bytes, int begin) {
        if (!RowCodec.hasHandle(bytes, begin)) {
            return RowHash.NONE;
        }
        HandleKey handle = HandleKey.unpack(bytes, begin + RowCodec.HANDLE_OFFSET, dictionaries, 0);
        return RowHash.ofHandle(handle.high(), handle.low(), handle.prefix());
    }

    private long survivorHash(byte[] bytes, int collectionOffset) {
        return RowHash.ofText(survivor, 0, unpack(bytes, collectionOffset, survivor));
    }

    /** Writes the pURI whose collection's code begins at an offset, and returns its length. */
    private int unpack(byte[] bytes, int collectionOffset, byte[] text) {
        byte[] collection = dictionaries.collections.word((int) Varint.get(bytes, collectionOffset)).bytes;
        System.arraycopy(collection, 0, text, 0, collection.length);
        return Identifier.unpack(bytes, Varint.end(bytes, collectionOffset), text, collection.length);
    }

    /** Returns the hash by which the index finds the record that {@link #hash(byte[], int)} hashed last. */
    long indexHash(long seed) {
        return Hash.of(puri, 0, puriLength, seed);
    }

    /** Returns the partition of this record, by the default partitioner of Kafka's producers. */
    int partition(int partitions) {
        return Utils.toPositive(Utils.murmur2(Arrays.copyOf(puri, puriLength))) % partitions;
    }
}
