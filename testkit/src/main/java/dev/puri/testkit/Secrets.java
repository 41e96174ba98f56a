package dev.puri.testkit;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

/** Texts and bytes that must not be told, by what they are; every answer can be searched for them. */
public final class Secrets {
    private final Map<String, byte[]> all = new LinkedHashMap<>();

    /** A text. */
    public void add(String what, String text) {
        all.put(what, text.getBytes(StandardCharsets.UTF_8));
    }

    /** A uuid, in every form in which one is written. */
    public void add(String of, UUID uuid) {
        byte[] raw = ByteBuffer.allocate(16)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits())
                .array();
        String hex = uuid.toString().replace("-", "");
        all.put("uuid of " + of + ", raw", raw);
        add("uuid of " + of, uuid.toString());
        add("uuid of " + of + ", upper case", uuid.toString().toUpperCase(Locale.ROOT));
        add("uuid of " + of + ", hex", hex);
        add("uuid of " + of + ", upper-case hex", hex.toUpperCase(Locale.ROOT));
        add("uuid of " + of + ", base64", Base64.getEncoder().withoutPadding().encodeToString(raw));
        add(
                "uuid of " + of + ", base64url",
                Base64.getUrlEncoder().withoutPadding().encodeToString(raw));
    }

    /** Which of them stand in an answer whose characters are its bytes. */
    public List<String> in(String answer) {
        List<String> found = new ArrayList<>();
        all.forEach((what, secret) -> {
            if (answer.contains(new String(secret, StandardCharsets.ISO_8859_1))) {
                found.add(what);
            }
        });
        return found;
    }
}
