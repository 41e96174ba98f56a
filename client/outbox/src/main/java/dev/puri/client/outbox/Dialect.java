package dev.puri.client.outbox;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Locale;
import java.util.UUID;

/** The databases that an outbox supports. */
public enum Dialect {
    /** PostgreSQL 12 or newer. */
    POSTGRESQL,
    /** MySQL 8.0 or newer, with InnoDB and one primary. */
    MYSQL,
    /** MariaDB 10.2.4 or newer, with InnoDB and one primary. */
    MARIADB;

    /**
     * SQL expression for the oid of a table in PostgreSQL; its parameter is the table name. Advisory locks have the oid
     * in their key, because it differs for tables of the same name in two schemas, and is the same whether or not the
     * name includes the schema.
     */
    static final String OID = "?::regclass::oid";

    /** Name of the folder that contains this database's SQL files, relative to this package. */
    String folder() {
        return name().toLowerCase(Locale.ROOT);
    }

    void setUuid(PreparedStatement statement, int index, UUID uuid) throws SQLException {
        if (this == POSTGRESQL) {
            statement.setObject(index, uuid);
        } else {
            statement.setString(index, uuid.toString());
        }
    }
}
