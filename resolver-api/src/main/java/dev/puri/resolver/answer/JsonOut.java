package dev.puri.resolver.answer;

import dev.puri.http.Timestamp;
import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.RecordView;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;

/**
 * A growing buffer of JSON. Its methods append encoded JSON without checks; only {@link #string} escapes. Used by one
 * thread.
 */
public final class JsonOut {
    /** Maximum size of an array that is kept for the next response. */
    private static final int MAX_KEPT_BYTES = 1 << 20;

    private static final int INITIAL_BYTES = 1024;
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] UPPER_HEX = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);
    private static final int MAX_ESCAPE_LENGTH = 6;
    private static final int MAX_NUMBER_LENGTH = 20;
    private static final int UUID_LENGTH = 36;
    private static final int TIME_LENGTH = 24;
    private static final long DAY_MILLIS = 86_400_000;

    /** Days from the first day of the year 0 to the first day of 1970. */
    private static final long DAYS_TO_1970 = 719_528;

    /** Days of the years 0 to 9999, which have at most four digits. */
    private static final long DAYS_TO_10000 = 3_652_425;

    private byte[] bytes;
    private int length;

    /** Creates a buffer with room for a few results. */
    public JsonOut() {
        this(INITIAL_BYTES);
    }

    JsonOut(int capacity) {
        bytes = new byte[capacity];
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Empties the buffer. */
    public JsonOut clear() {
        length = 0;
        if (bytes.length > MAX_KEPT_BYTES) {
            bytes = new byte[INITIAL_BYTES];
        }
        return this;
    }

    /** Returns the array whose first {@link #length} bytes are the JSON; valid until the next write. */
    public byte[] bytes() {
        return bytes;
    }

    /** Returns the number of bytes. */
    public int length() {
        return length;
    }

    /** Ensures room for more bytes; returns the array, which may be a new one. */
    private byte[] room(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, Math.addExact(length, more)));
        }
        return bytes;
    }

    /** Appends encoded JSON. */
    JsonOut put(char ascii) {
        room(1)[length++] = (byte) ascii;
        return this;
    }

    JsonOut put(byte[] json) {
        return put(json, 0, json.length);
    }

    JsonOut put(byte[] json, int from, int to) {
        System.arraycopy(json, from, room(to - from), length, to - from);
        length += to - from;
        return this;
    }

    JsonOut put(JsonOut other) {
        return put(other.bytes, 0, other.length);
    }

    /** Appends the canonical pURI of a row, without quotes. */
    JsonOut name(RecordView row) {
        length = row.putPuri(room(Puri.MAX_BYTES), length);
        return this;
    }

    /** Appends the canonical pURI that a look-up has found, without quotes. */
    JsonOut name(LookUp found) {
        length = found.putPuri(room(Puri.MAX_BYTES), length);
        return this;
    }

    /** Appends a row's handle, without quotes. */
    JsonOut handle(RecordView row) {
        length = row.putHandle(room(Handle.LENGTH), length);
        return this;
    }

    JsonOut number(long value) {
        byte[] out = room(MAX_NUMBER_LENGTH);
        if (value == Long.MIN_VALUE) {
            return put(ascii(Long.toString(value)));
        }
        long rest = value;
        if (rest < 0) {
            out[length++] = '-';
            rest = -rest;
        }
        int digits = 1;
        for (long power = 10; digits < 19 && rest >= power; power *= 10) {
            digits++;
        }
        for (int i = length + digits - 1; i >= length; i--) {
            out[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        length += digits;
        return this;
    }

    /** Appends a uuid's text, without quotes. */
    JsonOut uuid(long high, long low) {
        byte[] out = room(UUID_LENGTH);
        int at = hex(high, 60, 32, out, length);
        out[at++] = '-';
        at = hex(high, 28, 16, out, at);
        out[at++] = '-';
        at = hex(high, 12, 0, out, at);
        out[at++] = '-';
        at = hex(low, 60, 48, out, at);
        out[at++] = '-';
        length = hex(low, 44, 0, out, at);
        return this;
    }

    private static int hex(long bits, int firstShift, int lastShift, byte[] out, int at) {
        int p = at;
        for (int shift = firstShift; shift >= lastShift; shift -= 4) {
            out[p++] = HEX[(int) (bits >>> shift) & 0xF];
        }
        return p;
    }

    /** Appends a time in the form of {@link Timestamp}, without quotes. */
    JsonOut time(long millis) {
        long days = Math.floorDiv(millis, DAY_MILLIS) + DAYS_TO_1970;
        if (days < 0 || days >= DAYS_TO_10000) {
            return put(ascii(Timestamp.text(Instant.ofEpochMilli(millis))));
        }
        byte[] out = room(TIME_LENGTH);
        int at = date((int) days, out, length);
        int millisOfDay = (int) Math.floorMod(millis, DAY_MILLIS);
        out[at] = 'T';
        twoDigits(millisOfDay / 3_600_000, out, at + 1);
        out[at + 3] = ':';
        twoDigits(millisOfDay / 60_000 % 60, out, at + 4);
        out[at + 6] = ':';
        twoDigits(millisOfDay / 1000 % 60, out, at + 7);
        out[at + 9] = '.';
        out[at + 10] = (byte) ('0' + millisOfDay / 100 % 10);
        twoDigits(millisOfDay % 100, out, at + 11);
        out[at + 13] = 'Z';
        length = at + 14;
        return this;
    }

    /**
     * Writes a date of the years 0 to 9999. The calculation lets years begin in March. So a leap day is the last day of
     * its year, and the month is a linear function of the day.
     *
     * @param day number of days since the first day of the year 0
     * @return the index after the date
     */
    private static int date(int day, byte[] out, int at) {
        // Days since 1 March of the year -400, so that no number is negative. The calendar repeats every 400 years.
        int daysSinceMarch = day + 146_097 - 60;
        int era = daysSinceMarch / 146_097;
        int dayOfEra = daysSinceMarch % 146_097;
        int yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
        int dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
        int monthsSinceMarch = (5 * dayOfYear + 2) / 153;
        int dayOfMonth = dayOfYear - (153 * monthsSinceMarch + 2) / 5 + 1;
        int month = monthsSinceMarch < 10 ? monthsSinceMarch + 3 : monthsSinceMarch - 9;
        int year = 400 * (era - 1) + yearOfEra + (month <= 2 ? 1 : 0);
        twoDigits(year / 100, out, at);
        twoDigits(year % 100, out, at + 2);
        out[at + 4] = '-';
        twoDigits(month, out, at + 5);
        out[at + 7] = '-';
        twoDigits(dayOfMonth, out, at + 8);
        return at + 10;
    }

    private static void twoDigits(int value, byte[] out, int at) {
        out[at] = (byte) ('0' + value / 10);
        out[at + 1] = (byte) ('0' + value % 10);
    }

    /** Appends text in quotes, escaped like Jackson does. */
    JsonOut string(String text) {
        byte[] octets = printable(text).getBytes(StandardCharsets.UTF_8);
        byte[] json = room(2 + MAX_ESCAPE_LENGTH * octets.length);
        int at = length;
        json[at++] = '"';
        for (byte octet : octets) {
            // Bytes beyond ASCII are negative.
            if (octet < 0 || octet >= ' ' && octet != '"' && octet != '\\') {
                json[at++] = octet;
            } else {
                at = escape(octet, json, at);
            }
        }
        json[at++] = '"';
        length = at;
        return this;
    }

    private static int escape(byte c, byte[] out, int at) {
        int p = at;
        out[p++] = '\\';
        switch (c) {
            case '"', '\\' -> out[p++] = c;
            case '\b' -> out[p++] = 'b';
            case '\t' -> out[p++] = 't';
            case '\n' -> out[p++] = 'n';
            case '\f' -> out[p++] = 'f';
            case '\r' -> out[p++] = 'r';
            default -> {
                out[p++] = 'u';
                out[p++] = '0';
                out[p++] = '0';
                out[p++] = UPPER_HEX[c >> 4];
                out[p++] = UPPER_HEX[c & 0xF];
            }
        }
        return p;
    }

    /** Replaces lone surrogates, which UTF-8 cannot encode. */
    public static String printable(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return text.codePoints()
                        .map(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? 0xFFFD : c)
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString();
            }
        }
        return text;
    }
}
