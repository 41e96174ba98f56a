package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import java.util.Arrays;

/** A pURI to be looked up. */
final class NameKey implements Index.Match {
    private final Words words;

    /** The canonical text. */
    private final byte[] text;

    /** Length of {@code namespace:collection:}. */
    private final int collectionLength;

    private final byte[] identifier;
    private final int identifierLength;
    private final long hash;

    NameKey(Puri puri, Words words, long seed) {
        this.words = words;
        text = puri.toBytes();
        collectionLength = text.length - puri.identifier().length();
        identifier = new byte[Identifier.mostBytes(text.length - collectionLength)];
        identifierLength = Identifier.pack(text, collectionLength, text.length, identifier, 0);
        hash = Hash.of(text, seed);
    }

    long hash() {
        return hash;
    }

    @Override
    public boolean in(byte[] record) {
        int at = RowCodec.nameAt(record);
        int identifierAt = Varint.end(record, at);
        return identifierAt + identifierLength <= record.length
                && Arrays.equals(record, identifierAt, identifierAt + identifierLength, identifier, 0, identifierLength)
                && words.collections.word((int) Varint.get(record, at)).begins(text, collectionLength);
    }
}
