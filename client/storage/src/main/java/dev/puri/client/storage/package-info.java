/**
 * Maps pURIs and handles to small database columns, and converts them for frameworks. A service declares one mapping
 * for each collection:
 *
 * <pre>{@code
 * ColumnMapping<Puri, Long> users = PuriColumns.of("music", "users").asLong();
 * ColumnMapping<Puri, String> anything = PuriColumns.anyAsText();
 *
 * try (Statement statement = connection.createStatement()) {
 *     statement.execute("create table songs (" + users.columnSql(Dialect.H2, "artist") + ", "
 *             + anything.columnSql(Dialect.H2, "source") + ")");
 *     statement.execute(users.indexSql("songs", "artist"));
 * }
 * try (PreparedStatement insert = connection.prepareStatement("insert into songs values (?, ?)")) {
 *     users.set(insert, 1, Puri.parse("music:users:42"));
 *     anything.set(insert, 2, Puri.parse("soundcloud:tracks:4711"));
 *     insert.executeUpdate();
 * }
 * try (Statement query = connection.createStatement();
 *         ResultSet rows = query.executeQuery("select artist, source from songs where artist = 42")) {
 *     while (rows.next()) {
 *         Puri artist = users.get(rows, "artist");
 *         Puri source = anything.get(rows, "source");
 *         System.out.println(artist + " " + source);
 *     }
 * }
 * }</pre>
 *
 * <p>The subpackages support frameworks: {@code jackson}, {@code jackson3}, {@code jpa}, {@code hibernate}, {@code
 * jaxrs} and {@code spring}. Each subpackage needs its framework on the class path. This package needs no framework.
 */
@NullMarked
package dev.puri.client.storage;

import org.jspecify.annotations.NullMarked;
