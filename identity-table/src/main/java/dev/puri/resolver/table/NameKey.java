package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import java.util.Arrays;

/** A pURI to be looked up; may be set to one after another. */
final class NameKey implements Index.Match {
    private static final byte[] NO_BYTES = {};

    private final Words words;
    private final long seed;

    /** Has the canonical text, from here to the last segment. */
    private byte[] text = NO_BYTES;

    private int from;
    private int identifierAt;
    private int to;

    private byte[] identifier = NO_BYTES;
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
        set(name, 0, puri.identifierIndex(), name.length);
    }

    /**
     * @param name has the canonical text from {@code begin} to {@code end}, and must not change
     * @param lastAt where its last segment begins
     */
    void set(byte[] name, int begin, int lastAt, int end) {
        setText(name, begin, lastAt, end);
        pack();
    }

    /** Like {@link #set}, and returns the hash; {@link #pack} must follow before the key is compared with a record. */
    long setText(byte[] name, int begin, int lastAt, int end) {
        text = name;
        from = begin;
        identifierAt = lastAt;
        to = end;
        hash = Hash.of(name, begin, end, seed);
        return hash;
    }

    /** Packs the identifier as records have it. */
    void pack() {
        int most = Identifier.mostBytes(to - identifierAt);
        if (identifier.length < most) {
            identifier = new byte[most];
        }
        identifierLength = Identifier.pack(text, identifierAt, to, identifier, 0);
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
