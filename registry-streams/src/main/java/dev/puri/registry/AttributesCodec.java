package dev.puri.registry;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Encodes the searchable attributes of a pURI for the registrar's store: a version, the number of attributes, then the
 * name and the value of each. The format is not Avro, for the reasons in {@link RegistrationCodec}.
 */
final class AttributesCodec {
    private static final byte VERSION = 1;

    private AttributesCodec() {}

    /**
     * @param attributes attributes that are within {@link AttributeBounds}
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
     * @throws IllegalStateException if the value has an unknown version
     * @throws IllegalArgumentException if the value has too few or too many bytes
     */
    static Map<String, String> decode(byte[] value) {
        return ValueDecoder.decode("the attributes of a document", value, AttributesCodec::read);
    }

    private static Map<String, String> read(ByteBuffer bytes) {
        byte version = bytes.get();
        if (version != VERSION) {
            throw new IllegalStateException("attributes in the registrar's store have the format version " + version
                    + "; this program reads version " + VERSION);
        }
        Map<String, String> attributes = new HashMap<>();
        for (int i = bytes.get(); i > 0; i--) {
            String name = TextCodec.get(bytes);
            attributes.put(name, TextCodec.get(bytes));
        }
        return attributes;
    }
}
