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

/** Named secrets that no answer may contain, and a search for them in an answer. */
public final class Secrets {
    private final Map<String, byte[]> all = new LinkedHashMap<>();

    /** Adds a text. */
    public void add(String what, String text) {
        all.put(what, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Adds a uuid in all its usual encodings. */
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

    /** Returns the names of the secrets in an answer that was decoded as ISO 8859-1. */
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
