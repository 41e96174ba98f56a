package dev.puri.resolver.table;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Row;

/**
 * The words that a record refers to, and the offsets of its other parts. A reader must look words up before {@link
 * Index} confirms the record: later the number may be another word's.
 */
@SuppressWarnings("NullAway.Init") // Asked for only when a record was read.
final class RecordParts implements Index.Reading {
    private final Words words;

    Words.Collection collection;
    int identifierAt;
    int uuidAt;
    Words.Word<Owner> owner;
    Words.Word<Shard> shard;
    int epochAt;

    /** Of a merged row, the survivor's. */
    Words.Collection survivorCollection;

    int survivorIdentifierAt;

    RecordParts(Words words) {
        this.words = words;
    }

    /** Finds the parts. If the record was freed meanwhile, they are wrong, but this does not fail. */
    @Override
    public void read(byte[] record) {
        int at = RowCodec.nameAt(record);
        collection = words.collections.word((int) Varint.get(record, at));
        identifierAt = Varint.end(record, at);
        uuidAt = Identifier.end(record, identifierAt);
        at = uuidAt + 16;
        owner = words.owners.word((int) Varint.get(record, at));
        at = Varint.end(record, at);
        shard = words.shards.word((int) Varint.get(record, at));
        epochAt = Varint.end(record, at);
        if (RowCodec.status(record) == Row.Status.MERGED) {
            at = RowCodec.survivorAt(record, epochAt);
            survivorCollection = words.collections.word((int) Varint.get(record, at));
            survivorIdentifierAt = Varint.end(record, at);
        }
    }
}
