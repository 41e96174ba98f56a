package dev.puri.resolver.export;

import dev.puri.resolver.answer.ExportWriter;
import dev.puri.resolver.answer.NdjsonExportWriter;
import dev.puri.resolver.live.ChangeId;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A format of the response of {@code GET /v1/export}, which contains all rows of a resolver. */
public enum ExportFormat {
    /** A line of JSON for each row. */
    NDJSON("application/x-ndjson", NdjsonExportWriter::new),
    /** An Avro object container file (Avro 1.12, Object Container Files). */
    AVRO("application/avro", AvroExportWriter::new);

    private final String mediaType;
    private final Function<ChangeId, ExportWriter> writerFactory;

    ExportFormat(String mediaType, Function<ChangeId, ExportWriter> writerFactory) {
        this.mediaType = mediaType;
        this.writerFactory = writerFactory;
    }

    /**
     * Returns the format that a request asks for; NDJSON if it asks for none.
     *
     * @param format the query parameter, which takes precedence over the header; null if absent
     * @param accept the header {@code Accept}; null if absent
     * @throws IllegalArgumentException if the parameter names no format
     */
    public static ExportFormat of(@Nullable String format, @Nullable String accept) {
        if (format == null) {
            return accept != null && accept.contains(AVRO.mediaType) && !accept.contains(NDJSON.mediaType)
                    ? AVRO
                    : NDJSON;
        }
        return Arrays.stream(values())
                .filter(value -> value.toString().equals(format))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException(Arrays.stream(values())
                        .map(ExportFormat::toString)
                        .collect(Collectors.joining(" or ", "it must be ", ""))));
    }

    /** The media type. */
    public String mediaType() {
        return mediaType;
    }

    /**
     * Returns a writer of the body of an export.
     *
     * @param cursor the id after which a client continues with {@code GET /v1/changes}
     */
    ExportWriter newWriter(ChangeId cursor) {
        return writerFactory.apply(cursor);
    }

    /** The value of the query parameter. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
