package dev.puri.client.outbox;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Locale;
import java.util.UUID;

/** The databases that can hold an outbox. */
public enum Dialect {
    /** PostgreSQL 12 or newer. */
    POSTGRESQL,
    /** MySQL 8.0 or newer, with InnoDB and one primary. */
    MYSQL,
    /** MariaDB 10.2.4 or newer, with InnoDB and one primary. */
    MARIADB;

    /**
     * SQL for the oid of a table in PostgreSQL; its parameter is the name. The oid tells apart tables of the same name in two schemas,
     * and is the same with and without the schema in the name.
     */
    static final String OID = "?::regclass::oid";

    /** Name of the folder of its migrations, below this package. */
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
