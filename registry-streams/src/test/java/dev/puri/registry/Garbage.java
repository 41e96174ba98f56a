package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/** Invalid records, for any topic of the registry. */
final class Garbage {
    /** One record. */
    record Form(byte @Nullable [] key, byte @Nullable [] value, Headers headers) {}

    private static final UUID ID = new UUID(0x0197_0000_0000_7000L, 0x8000_0000_0000_0001L);
    private static final Handle HANDLE = Handle.parse("trk_4k7vx9tz2nqr8w3");
    private static final Puri PURI = Puri.parse("wild:things:garbage");

    private Garbage() {}

    /**
     * @param schemaId one that the schema registry knows
     */
    static List<Form> forms(int schemaId) {
        byte[] grant = new Grant(ID, HANDLE, true).toBytes();
        byte[] claim = new Claim(PURI, ID, new IdentityHash(1, 2)).toBytes();
        List<byte[]> values = new ArrayList<>();
        values.add(null);
        values.add(new byte[0]);
        values.add(new byte[] {0});
        values.add(random(5));
        values.add(random(17));
        values.add(random(35));
        values.add(random(1000));
        values.add(random(RawEvent.MAX_BYTES + 1));
        values.add(wire(schemaId, random(40)));
        values.add(wire(schemaId, new byte[0]));
        values.add(wire(77_777, random(40)));
        values.add(wire(-5, random(40)));
        values.add(Arrays.copyOf(grant, grant.length - 1));
        values.add(Arrays.copyOf(grant, grant.length + 1));
        values.add(Arrays.copyOf(claim, claim.length - 1));
        values.add(Arrays.copyOf(claim, claim.length + 1));
        List<byte[]> keys = new ArrayList<>();
        keys.add(null);
        keys.add(new byte[0]);
        keys.add(random(5));
        keys.add(PURI.toBytes());
        keys.add(TextCodec.utf8(HANDLE.text()));
        keys.add(random(2000));
        List<Form> forms = new ArrayList<>();
        for (byte[] key : keys) {
            for (byte[] value : values) {
                for (Headers headers : headers()) {
                    forms.add(new Form(key, value, headers));
                }
            }
        }
        return forms;
    }

    /** Headers that are not those of {@link NamespaceEventForwarder}, each wrong in one way. */
    private static List<Headers> headers() {
        String position = new Position(Topics.eventsTopicOf("music"), 0, 1).toString();
        return List.of(
                new RecordHeaders(),
                with("position", TextCodec.utf8(position)),
                with("position", TextCodec.utf8("nowhere"), "length", TextCodec.utf8("5")),
                with("position", TextCodec.utf8(position), "length", TextCodec.utf8("many")),
                with("position", TextCodec.utf8(position), "length", TextCodec.utf8("7777")),
                with("position", TextCodec.utf8(position), "length", TextCodec.utf8("-2"), "sha256", random(31)),
                with("position", null, "length", null));
    }

    private static Headers with(Object... namesAndValues) {
        RecordHeaders headers = new RecordHeaders();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            headers.add((String) namesAndValues[i], (byte[]) namesAndValues[i + 1]);
        }
        return headers;
    }

    private static byte[] wire(int schemaId, byte[] body) {
        return ByteBuffer.allocate(5 + body.length)
                .put((byte) 0)
                .putInt(schemaId)
                .put(body)
                .array();
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }
}
