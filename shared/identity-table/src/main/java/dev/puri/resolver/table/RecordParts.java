package dev.puri.resolver.table;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Row;

/**
 * The words that a packed record refers to, and the offsets of its other parts. A reader must look words up before the
 * {@link Index} compares the stamp: afterwards a code may belong to another word.
 */
@SuppressWarnings("NullAway.Init") // Fields are set by read().
final class RecordParts implements Index.RecordConsumer {
    private final Dictionaries dictionaries;

    Dictionaries.Collection collection;
    int identifierOffset;
    int uuidOffset;
    Dictionaries.Word<Owner> owner;
    Dictionaries.Word<Shard> shard;
    int epochOffset;

    /** Only valid for a merged row: the collection of the survivor. */
    Dictionaries.Collection survivorCollection;

    /** Only valid for a merged row. */
    int survivorIdentifierOffset;

    RecordParts(Dictionaries dictionaries) {
        this.dictionaries = dictionaries;
    }

    /** Sets the parts. If the record was freed meanwhile, the parts are wrong, but this method does not fail. */
    @Override
    public void read(byte[] record) {
        int offset = RowCodec.collectionOffset(record);
        collection = dictionaries.collections.word((int) Varint.get(record, offset));
        identifierOffset = Varint.end(record, offset);
        uuidOffset = Identifier.end(record, identifierOffset);
        offset = uuidOffset + 16;
        owner = dictionaries.owners.word((int) Varint.get(record, offset));
        offset = Varint.end(record, offset);
        shard = dictionaries.shards.word((int) Varint.get(record, offset));
        epochOffset = Varint.end(record, offset);
        if (RowCodec.status(record) == Row.Status.MERGED) {
            offset = RowCodec.survivorOffset(record, epochOffset);
            survivorCollection = dictionaries.collections.word((int) Varint.get(record, offset));
            survivorIdentifierOffset = Varint.end(record, offset);
        }
    }
}
