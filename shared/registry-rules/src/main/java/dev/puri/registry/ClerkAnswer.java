package dev.puri.registry;

/** The answer of the clerk to an event that claims a handle, as known when the registrar decides the event. */
enum ClerkAnswer {
    UNASKED,
    GRANTED,
    TAKEN
}
