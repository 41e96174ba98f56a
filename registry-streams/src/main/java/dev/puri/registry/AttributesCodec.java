package dev.puri.registry;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Encodes a pURI's searchable attributes for the registrar's store: a version, the number of attributes, then name and
 * value of each. Not Avro, for the reasons of {@link RegistrationCodec}.
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
            byte[] name = TextCodec.utf8(attribute.getKey());
            byte[] value = TextCodec.utf8(attribute.getValue());
            size += TextCodec.size(name, value);
            texts.add(name);
            texts.add(value);
        }
        ByteBuffer bytes = ByteBuffer.allocate(size).put(VERSION).put((byte) attributes.size());
        for (byte[] text : texts) {
            TextCodec.put(bytes, text);
        }
        return bytes.array();
    }

    /**
     * @throws IllegalStateException if this class did not write the value
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
            String name = TextCodec.get(bytes);
            attributes.put(name, TextCodec.get(bytes));
        }
        return attributes;
    }
}
