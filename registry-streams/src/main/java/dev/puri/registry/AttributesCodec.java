package dev.puri.registry;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A pURI's searchable text as the bytes of the registrar's store: a version, how many attributes there
 * are, then the name and the value of each. Not Avro, as {@link RegistrationCodec} is not.
 */
final class AttributesCodec {
    private static final byte VERSION = 1;

    private AttributesCodec() {}

    /**
     * @param attributes within {@link AttributeBounds}
     */
    static byte[] encode(Map<String, String> attributes) {
        List<byte[]> texts = new ArrayList<>(2 * attributes.size());
        int size = 2;
        for (Map.Entry<String, String> attribute : attributes.entrySet()) {
            byte[] name = Texts.utf8(attribute.getKey());
            byte[] value = Texts.utf8(attribute.getValue());
            size += Texts.size(name, value);
            texts.add(name);
            texts.add(value);
        }
        ByteBuffer bytes = ByteBuffer.allocate(size).put(VERSION).put((byte) attributes.size());
        for (byte[] text : texts) {
            Texts.put(bytes, text);
        }
        return bytes.array();
    }

    /**
     * @throws IllegalStateException when the store holds what this class did not write
     */
    static Map<String, String> decode(byte[] value) {
        ByteBuffer bytes = ByteBuffer.wrap(value);
        byte version = bytes.get();
        if (version != VERSION) {
            throw new IllegalStateException(
                    "the registrar's text has version " + version + " and this program reads " + VERSION);
        }
        Map<String, String> attributes = new HashMap<>();
        for (int i = bytes.get(); i > 0; i--) {
            String name = Texts.get(bytes);
            attributes.put(name, Texts.get(bytes));
        }
        return attributes;
    }
}
