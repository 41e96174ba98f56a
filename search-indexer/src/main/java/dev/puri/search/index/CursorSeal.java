package dev.puri.search.index;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Makes cursors of an engine's bytes and the bytes of cursors: encrypted, as they name uuids and pURIs that a
 * public listener tells nobody, and authenticated together with their query, so that no other is gone on with
 * by mistake. AES-GCM (NIST SP 800-38D) with a random nonce. Thread-safe.
 */
public final class CursorSeal {
    private static final int KEY_BYTES = 32;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;

    private final SecretKeySpec key;
    private final SecureRandom random = new SecureRandom();

    /**
     * @param key 32 bytes; instances that serve one address must have the same
     * @throws IllegalArgumentException when there are not so many
     */
    public CursorSeal(byte[] key) {
        if (key.length != KEY_BYTES) {
            throw new IllegalArgumentException("a cursor's key has " + KEY_BYTES + " bytes, not " + key.length);
        }
        this.key = new SecretKeySpec(key, "AES");
    }

    /**
     * With the key in a file, which is made when it is missing, and again when it is none: cursors then end.
     *
     * @throws IOException when it can be neither read nor written
     */
    public static CursorSeal ofFile(Path file) throws IOException {
        try {
            byte[] key = Files.readAllBytes(file);
            if (key.length == KEY_BYTES) {
                return new CursorSeal(key);
            }
        } catch (NoSuchFileException e) {
            // The first start.
        }
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        Files.deleteIfExists(file);
        OwnerOnly.create(file);
        Files.write(file, key, StandardOpenOption.WRITE);
        return new CursorSeal(key);
    }

    /**
     * A cursor that only {@link #open} with the same query reads.
     *
     * @param content at most 1,400 bytes
     */
    public Cursor seal(SearchQuery query, byte[] content) {
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, nonce, query).doFinal(content);
            byte[] all = Arrays.copyOf(nonce, NONCE_BYTES + sealed.length);
            System.arraycopy(sealed, 0, all, NONCE_BYTES, sealed.length);
            return new Cursor(Base64.getUrlEncoder().withoutPadding().encodeToString(all));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has AES-GCM", e);
        }
    }

    /**
     * What {@link #seal} was given.
     *
     * @throws Cursor.InvalidException when it was made with another key, for another query, or by nobody
     */
    public byte[] open(SearchQuery query, Cursor cursor) throws Cursor.InvalidException {
        byte[] all;
        try {
            all = Base64.getUrlDecoder().decode(cursor.token());
        } catch (IllegalArgumentException e) {
            throw invalid();
        }
        if (all.length < NONCE_BYTES + TAG_BITS / Byte.SIZE) {
            throw invalid();
        }
        try {
            return cipher(Cipher.DECRYPT_MODE, Arrays.copyOf(all, NONCE_BYTES), query)
                    .doFinal(all, NONCE_BYTES, all.length - NONCE_BYTES);
        } catch (AEADBadTagException e) {
            throw invalid();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has AES-GCM", e);
        }
    }

    private Cipher cipher(int mode, byte[] nonce, SearchQuery query) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(sameForEveryPage(query).getBytes(StandardCharsets.UTF_8));
        return cipher;
    }

    /** All of a query that decides which hits there are and in what order; each part with its length before it. */
    private static String sameForEveryPage(SearchQuery query) {
        StringBuilder parts = new StringBuilder(query.order().name());
        part(parts, query.text() == null ? "" : query.text());
        set(parts, query.collections());
        set(parts, query.namespaces());
        set(parts, query.shards());
        set(parts, query.owners());
        set(parts, query.statuses().stream().map(Enum::name).toList());
        return parts.toString();
    }

    private static void set(StringBuilder parts, Collection<String> values) {
        parts.append('|').append(values.size());
        values.stream().sorted().forEach(value -> part(parts, value));
    }

    private static void part(StringBuilder parts, String value) {
        parts.append('|').append(value.length()).append('|').append(value);
    }

    private static Cursor.InvalidException invalid() {
        return new Cursor.InvalidException("this cursor was not made here, or not for this query");
    }
}
