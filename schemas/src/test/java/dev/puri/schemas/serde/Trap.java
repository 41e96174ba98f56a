package dev.puri.schemas.serde;

/** A class that no schema may instantiate. */
final class Trap {
    static {
        System.setProperty("trap.sprung", "yes");
    }

    private Trap() {}
}
