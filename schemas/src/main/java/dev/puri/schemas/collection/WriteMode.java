package dev.puri.schemas.collection;

import dev.puri.schemas.log.Event;
import org.jspecify.annotations.Nullable;

/**
 * Which events may change the identities of a namespace or a collection. An erasure is accepted in every mode.
 *
 * @param name {@code READ_WRITE}, {@code READ_ONLY}, {@code IMPORT}, or a name that only a newer version of the
 *     registry knows; the registry treats such a mode as {@code READ_ONLY}
 * @param importer in mode {@code IMPORT}, the {@linkplain Event#source() source} whose events are accepted; null in the
 *     modes {@code READ_WRITE} and {@code READ_ONLY}. This prevents mistakes, not attacks
 */
public record WriteMode(String name, @Nullable String importer) {
    private static final String IMPORT = "IMPORT";

    /** Events of every source are accepted; the default. */
    public static final WriteMode READ_WRITE = new WriteMode("READ_WRITE", null);

    /** No events are accepted, except erasures. */
    public static final WriteMode READ_ONLY = new WriteMode("READ_ONLY", null);

    /**
     * @throws IllegalArgumentException if the mode is {@code IMPORT} and the importer is missing or cannot be the
     *     source of an event, or if the mode is {@code READ_WRITE} or {@code READ_ONLY} and there is an importer
     */
    public WriteMode {
        if (name.equals(IMPORT)) {
            if (importer == null) {
                throw new IllegalArgumentException("mode IMPORT needs an importer, the source of the accepted events");
            }
            Event.requireSource("importer", importer);
        } else if (importer != null && (name.equals("READ_WRITE") || name.equals("READ_ONLY"))) {
            throw new IllegalArgumentException("an importer needs mode IMPORT, the mode is " + name);
        }
    }

    /**
     * Creates mode {@code IMPORT}.
     *
     * @param importer the source whose events are accepted
     * @throws IllegalArgumentException if the importer cannot be the source of an event
     */
    public static WriteMode importBy(String importer) {
        return new WriteMode(IMPORT, importer);
    }

    /**
     * Creates a mode from its declaration, which must name a known mode.
     *
     * @param name {@code READ_WRITE}, {@code READ_ONLY} or {@code IMPORT}
     * @param importer the importer in mode {@code IMPORT}, otherwise null
     * @throws IllegalArgumentException if the name is another one, or importer and mode do not match
     */
    public static WriteMode of(String name, @Nullable String importer) {
        WriteMode mode = new WriteMode(name, importer);
        if (!mode.isKnown()) {
            throw new IllegalArgumentException("mode must be READ_WRITE, READ_ONLY or IMPORT, not " + name);
        }
        return mode;
    }

    /** Returns whether this version of the registry knows the mode. An unknown mode accepts no events. */
    public boolean isKnown() {
        return isImport() || name.equals(READ_WRITE.name) || name.equals(READ_ONLY.name);
    }

    /** Returns whether the identities are being imported: more of them will come. */
    public boolean isImport() {
        return name.equals(IMPORT);
    }

    /** Returns whether an event of this source, other than an erasure, may change an identity. */
    public boolean accepts(String source) {
        return name.equals(READ_WRITE.name) || isImport() && source.equals(importer);
    }

    /** Returns the mode for people: its name, and the importer if there is one. */
    @Override
    public String toString() {
        return importer == null ? name : name + " by " + importer;
    }
}
