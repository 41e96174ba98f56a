package dev.puri.client.outbox;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Locale;
import java.util.UUID;

/** The databases that an outbox can be in. */
public enum Dialect {
    /** PostgreSQL 12 or newer. */
    POSTGRESQL,
    /** MySQL 8.0 or newer, with InnoDB and one primary. */
    MYSQL,
    /** MariaDB 10.2.4 or newer, with InnoDB and one primary. */
    MARIADB;

    /**
     * A table's number in PostgreSQL, by its name as the parameter. A name may go without its schema, and two schemas
     * may have tables of the same name.
     */
    static final String OID = "?::regclass::oid";

    /** The folder of its migrations, below this package. */
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
