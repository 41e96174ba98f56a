package dev.puri.cli.imports;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The rows of one input, in order. */
interface RowSource extends AutoCloseable {
    /** The location of an input. */
    sealed interface Origin {
        /** Returns a name for messages, without passwords. */
        String name();
    }

    /** A file. */
    sealed interface FileOrigin extends Origin {
        Path file();

        @Override
        default String name() {
            return file().toString();
        }
    }

    /** A CSV file as in RFC 4180, with a line of column names. */
    record Csv(Path file) implements FileOrigin {}

    /** A file with a JSON object on each line. */
    record Ndjson(Path file) implements FileOrigin {}

    /** A file of {@code GET /v1/export}. */
    record Export(Path file) implements FileOrigin {}

    /**
     * A query.
     *
     * @param user null if the URL contains the user
     * @param passwordVariable name of the environment variable with the password; null for no password
     * @param driver jar file of the JDBC driver; null if the driver is on the class path
     */
    record Jdbc(
            String url,
            String query,
            @Nullable String user,
            @Nullable String passwordVariable,
            @Nullable Path driver) implements Origin {
        private static final Pattern SCHEME = Pattern.compile("jdbc:[A-Za-z0-9+.-]+:");

        /** Hosts, ports and the path of a database. */
        private static final Pattern PLACE = Pattern.compile("[A-Za-z0-9 ._~/:,$\\[\\]\\\\-]+");

        /** Characters that begin or divide the properties of a URL. */
        private static final Pattern PROPERTIES = Pattern.compile("[?;=&(]");

        /**
         * Returns the scheme, the host and the database. It returns the scheme alone if the rest may contain a
         * password: a password may contain any character, and each driver has its own URL syntax.
         */
        @Override
        public String name() {
            Matcher scheme = SCHEME.matcher(url);
            if (!scheme.lookingAt()) {
                return "jdbc:…";
            }
            String rest = url.substring(scheme.end());
            int at = rest.lastIndexOf('@');
            String credentials = rest.substring(0, at + 1);
            String place = rest.substring(at + 1).replaceFirst("[?;].*", "");
            boolean isFreeOfPassword =
                    at >= 0 ? !PROPERTIES.matcher(credentials).find() : place.contains("//") || place.startsWith("/");
            if (!isFreeOfPassword || !PLACE.matcher(place).matches()) {
                return scheme.group() + "…";
            }
            return scheme.group() + (credentials.contains("//") ? "//" : "") + place;
        }
    }

    /** Returns the names of the columns; null if they differ from row to row. */
    @Nullable
    Set<String> columns();

    /**
     * Returns the next row; null at the end.
     *
     * @throws IOException if the file cannot be read or is malformed; the message contains the place
     * @throws SQLException if the query fails
     */
    @Nullable
    SourceRow next() throws IOException, SQLException;

    @Override
    void close() throws IOException, SQLException;

    /** Opens an input. */
    static RowSource open(Origin origin, Map<String, String> environment) throws IOException, SQLException {
        return switch (origin) {
            case Csv csv -> new CsvRows(csv.file());
            case Ndjson ndjson -> new NdjsonRows(ndjson.file());
            case Export export -> new ExportRows(export.file());
            case Jdbc jdbc -> new JdbcRows(jdbc, environment);
        };
    }

    /**
     * Returns the approximate number of rows of an input, to estimate the remaining time. For a file it returns the
     * number of lines.
     *
     * @return null if the database cannot count the rows of the query, or the file is a pipe, which can be read only
     *     once
     */
    static @Nullable Long count(Origin origin, Map<String, String> environment) throws IOException {
        return switch (origin) {
            case FileOrigin file -> countLines(file.file());
            case Jdbc jdbc -> JdbcRows.count(jdbc, environment);
        };
    }

    private static @Nullable Long countLines(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            return null;
        }
        long count = 0;
        byte[] buffer = new byte[1 << 16];
        try (InputStream in = Files.newInputStream(file)) {
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                for (int i = 0; i < length; i++) {
                    if (buffer[i] == '\n') {
                        count++;
                    }
                }
            }
        }
        return count;
    }
}
