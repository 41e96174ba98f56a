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
 * Encrypts the sort values of a page's last hit into a cursor, and decrypts cursors. Sort values may contain uuids and
 * pURIs, which a public listener must not show. The cipher is AES-GCM (NIST SP 800-38D) with a random nonce. The query
 * is the associated data of the encryption, so a cursor is valid for its own query only. Thread-safe.
 */
public final class CursorSeal {
    private static final int KEY_BYTES = 32;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;

    private final SecretKeySpec key;
    private final SecureRandom random = new SecureRandom();

    /**
     * Creates a seal.
     *
     * @param key 32 bytes, the same for all instances behind one address
     * @throws IllegalArgumentException if the key does not have 32 bytes
     */
    public CursorSeal(byte[] key) {
        if (key.length != KEY_BYTES) {
            throw new IllegalArgumentException(
                    "the key of cursors must have " + KEY_BYTES + " bytes, not " + key.length);
        }
        this.key = new SecretKeySpec(key, "AES");
    }

    /**
     * Creates a seal with the key in a file. If the file is missing or contains no valid key, this method writes a new
     * random key to the file, and all earlier cursors become invalid.
     *
     * @throws IOException if the file can be neither read nor written
     */
    public static CursorSeal ofFile(Path file) throws IOException {
        try {
            byte[] key = Files.readAllBytes(file);
            if (key.length == KEY_BYTES) {
                return new CursorSeal(key);
            }
        } catch (NoSuchFileException e) {
            // The server starts for the first time.
        }
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        Files.deleteIfExists(file);
        PrivateFiles.createFile(file);
        Files.write(file, key, StandardOpenOption.WRITE);
        return new CursorSeal(key);
    }

    /**
     * Encrypts sort values into a cursor, which {@link #open} decrypts for the same query only.
     *
     * @param sortValues at most 1,400 bytes
     */
    public Cursor seal(SearchQuery query, byte[] sortValues) {
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        try {
            byte[] encrypted = cipher(Cipher.ENCRYPT_MODE, nonce, query).doFinal(sortValues);
            byte[] nonceAndEncrypted = Arrays.copyOf(nonce, NONCE_BYTES + encrypted.length);
            System.arraycopy(encrypted, 0, nonceAndEncrypted, NONCE_BYTES, encrypted.length);
            return new Cursor(Base64.getUrlEncoder().withoutPadding().encodeToString(nonceAndEncrypted));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no AES-GCM", e);
        }
    }

    /**
     * Returns the sort values that {@link #seal} encrypted.
     *
     * @throws Cursor.InvalidException if the cursor was created with another key, for another query, or not by a seal
     */
    public byte[] open(SearchQuery query, Cursor cursor) throws Cursor.InvalidException {
        byte[] nonceAndEncrypted;
        try {
            nonceAndEncrypted = Base64.getUrlDecoder().decode(cursor.token());
        } catch (IllegalArgumentException e) {
            throw invalid();
        }
        if (nonceAndEncrypted.length < NONCE_BYTES + TAG_BITS / Byte.SIZE) {
            throw invalid();
        }
        try {
            return cipher(Cipher.DECRYPT_MODE, Arrays.copyOf(nonceAndEncrypted, NONCE_BYTES), query)
                    .doFinal(nonceAndEncrypted, NONCE_BYTES, nonceAndEncrypted.length - NONCE_BYTES);
        } catch (AEADBadTagException e) {
            throw invalid();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no AES-GCM", e);
        }
    }

    private Cipher cipher(int mode, byte[] nonce, SearchQuery query) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(associatedData(query).getBytes(StandardCharsets.UTF_8));
        return cipher;
    }

    /**
     * Returns the parts of a query that determine its hits and their order. Each part follows its length, so two
     * different queries cannot have the same text.
     */
    private static String associatedData(SearchQuery query) {
        StringBuilder parts = new StringBuilder(query.order().name());
        appendPart(parts, query.text() == null ? "" : query.text());
        appendSet(parts, query.collections());
        appendSet(parts, query.namespaces());
        appendSet(parts, query.shards());
        appendSet(parts, query.owners());
        appendSet(parts, query.statuses().stream().map(Enum::name).toList());
        return parts.toString();
    }

    private static void appendSet(StringBuilder parts, Collection<String> values) {
        parts.append('|').append(values.size());
        values.stream().sorted().forEach(value -> appendPart(parts, value));
    }

    private static void appendPart(StringBuilder parts, String value) {
        parts.append('|').append(value.length()).append('|').append(value);
    }

    private static Cursor.InvalidException invalid() {
        return new Cursor.InvalidException("this cursor was created by another server, or for another query");
    }
}
