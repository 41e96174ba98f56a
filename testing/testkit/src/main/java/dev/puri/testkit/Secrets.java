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

/** Finds secrets in responses that must not contain them. */
public final class Secrets {
    private final Map<String, byte[]> secretsByName = new LinkedHashMap<>();

    /**
     * Adds a text as a secret.
     *
     * @param name the name of the secret, which {@link #in} returns
     */
    public void add(String name, String text) {
        secretsByName.put(name, text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Adds a uuid as a secret, in all its usual encodings.
     *
     * @param objectName the name of the object that has the uuid
     */
    public void add(String objectName, UUID uuid) {
        byte[] raw = ByteBuffer.allocate(16)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits())
                .array();
        String hex = uuid.toString().replace("-", "");
        secretsByName.put("uuid of " + objectName + ", raw", raw);
        add("uuid of " + objectName, uuid.toString());
        add("uuid of " + objectName + ", upper case", uuid.toString().toUpperCase(Locale.ROOT));
        add("uuid of " + objectName + ", hex", hex);
        add("uuid of " + objectName + ", upper-case hex", hex.toUpperCase(Locale.ROOT));
        add(
                "uuid of " + objectName + ", base64",
                Base64.getEncoder().withoutPadding().encodeToString(raw));
        add(
                "uuid of " + objectName + ", base64url",
                Base64.getUrlEncoder().withoutPadding().encodeToString(raw));
    }

    /**
     * Returns the names of the secrets that a response contains.
     *
     * @param response decoded as ISO 8859-1
     */
    public List<String> in(String response) {
        List<String> names = new ArrayList<>();
        secretsByName.forEach((name, secret) -> {
            if (response.contains(new String(secret, StandardCharsets.ISO_8859_1))) {
                names.add(name);
            }
        });
        return names;
    }
}
