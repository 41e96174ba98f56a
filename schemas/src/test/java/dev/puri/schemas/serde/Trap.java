package dev.puri.schemas.serde;

/** A class that no schema may bring to life. */
final class Trap {
    static {
        System.setProperty("trap.sprung", "yes");
    }

    private Trap() {}
}
