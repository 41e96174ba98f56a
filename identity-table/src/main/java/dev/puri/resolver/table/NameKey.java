package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import java.util.Arrays;

/** A pURI to be looked up; may be set to one after another. */
final class NameKey implements Index.Match {
    private final Words words;
    private final long seed;

    /** Has the canonical text, from here to the last segment. */
    private byte[] text = {};

    private int from;
    private int identifierAt;

    private byte[] identifier = {};
    private int identifierLength;
    private long hash;

    /** Of no name yet. */
    NameKey(Words words, long seed) {
        this.words = words;
        this.seed = seed;
    }

    NameKey(Puri puri, Words words, long seed) {
        this(words, seed);
        byte[] name = puri.toBytes();
        set(name, 0, name.length - puri.identifier().length(), name.length);
    }

    /**
     * @param name has the canonical text from {@code begin} to {@code end}, and must not change
     * @param lastAt where its last segment begins
     */
    void set(byte[] name, int begin, int lastAt, int end) {
        text = name;
        from = begin;
        identifierAt = lastAt;
        int most = Identifier.mostBytes(end - lastAt);
        if (identifier.length < most) {
            identifier = new byte[most];
        }
        identifierLength = Identifier.pack(name, lastAt, end, identifier, 0);
        hash = Hash.of(name, begin, end, seed);
    }

    long hash() {
        return hash;
    }

    @Override
    public boolean in(byte[] record) {
        int at = RowCodec.nameAt(record);
        int there = Varint.end(record, at);
        if (there + identifierLength > record.length
                || !Arrays.equals(record, there, there + identifierLength, identifier, 0, identifierLength)) {
            return false;
        }
        Words.Collection collection = words.collections.wordIfAny((int) Varint.get(record, at));
        return collection != null && collection.begins(text, from, identifierAt);
    }
}
