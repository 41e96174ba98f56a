package dev.puri.client.storage;

/** Databases whose SQL for a column differs. */
public enum Dialect {
    POSTGRESQL,
    /** 8.0 and newer. */
    MYSQL,
    /** 10.7 and newer, which have the type uuid. */
    MARIADB,
    /** 2.x. */
    H2
}
