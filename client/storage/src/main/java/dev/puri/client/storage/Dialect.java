package dev.puri.client.storage;

/** The databases for which mappings generate column types. */
public enum Dialect {
    POSTGRESQL,
    /** MySQL 8.0 or newer. */
    MYSQL,
    /** MariaDB 10.7 or newer, which has the type uuid. */
    MARIADB,
    /** H2 2.x. */
    H2
}
