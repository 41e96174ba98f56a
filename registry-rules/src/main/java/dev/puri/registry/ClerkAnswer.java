package dev.puri.registry;

/** The state of an event's claim of a handle when the event is decided. */
enum ClerkAnswer {
    UNASKED,
    GRANTED,
    TAKEN
}
