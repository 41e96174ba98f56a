package dev.puri.registry;

/** What is known of a claim when its event is decided. */
enum ClerkAnswer {
    UNASKED,
    GRANTED,
    TAKEN
}
