package dev.puri.search;

import dev.puri.search.index.Cursor;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Cursors as callers see them. An engine's cursor may tell the uuid of the last hit, which must not leave
 * the internal network, and goes with one query only. So it is encrypted (AES-GCM, NIST SP 800-38D) with
 * the query as what is authenticated beside it: none can be read, made up, or used with another query.
 *
 * <p>The key is made of the topic's id, 122 random bits that no listener tells. So a cursor is good on every
 * instance and over restarts, and needs no setting; with another topic its list is another, too.
 */
final class CursorSeal {
    private static final String PURPOSE = "puri search cursor ";
    private static final int NONCE = 12;
    private static final int TAG = 16;
    private static final int LONGEST = 4096;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final SecretKeySpec key;

    /**
     * @param topicId of the identities that are listed
     */
    CursorSeal(String topicId) {
        key = new SecretKeySpec(sha256(PURPOSE + topicId), "AES");
    }

    /**
     * What a caller is given.
     *
     * @param query all that makes another list of results
     */
    String seal(Cursor cursor, String query) {
        byte[] nonce = new byte[NONCE];
        RANDOM.nextBytes(nonce);
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, nonce, 0, query)
                    .doFinal(cursor.token().getBytes(StandardCharsets.US_ASCII));
            byte[] all = Arrays.copyOf(nonce, NONCE + sealed.length);
            System.arraycopy(sealed, 0, all, NONCE, sealed.length);
            return Base64.getUrlEncoder().withoutPadding().encodeToString(all);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has AES-GCM", e);
        }
    }

    /**
     * What {@link #seal} was given.
     *
     * @throws Cursor.InvalidException when it was not given this, or with another query
     */
    Cursor open(String text, String query) throws Cursor.InvalidException {
        try {
            byte[] all = text.length() > LONGEST
                    ? new byte[0]
                    : Base64.getUrlDecoder().decode(text);
            if (all.length <= NONCE + TAG) {
                throw invalid();
            }
            byte[] token = cipher(Cipher.DECRYPT_MODE, all, 0, query).doFinal(all, NONCE, all.length - NONCE);
            return new Cursor(new String(token, StandardCharsets.US_ASCII));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw invalid();
        }
    }

    private static Cursor.InvalidException invalid() {
        return new Cursor.InvalidException("it was not made for this query");
    }

    private Cipher cipher(int mode, byte[] nonce, int at, String query) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(8 * TAG, nonce, at, NONCE));
        cipher.updateAAD(query.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
