package dev.puri.schemas.collection;

import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;

/**
 * The declaration of a namespace.
 *
 * @param name a segment in any casing, converted to canonical form
 * @param ownsTopic whether it has an events topic of its own, and its events are refused on other topics; can never be
 *     undone, because services rely on the topic's access control list
 */
public record Namespace(String name, boolean ownsTopic) implements Declaration {
    /**
     * Checks the components.
     *
     * @throws InvalidNameException if the name is not a valid segment
     * @throws IllegalArgumentException if it owns a topic and has characters that topic names must not have
     */
    public Namespace {
        name = Puri.parse(name + ":x:x").namespace();
        if (ownsTopic && !Topics.mayOwnTopic(name)) {
            throw new IllegalArgumentException("the namespace " + name
                    + " cannot own a topic: names of topics are made of a-z 0-9 . _ - and it has others");
        }
    }

    /** The topic for its events. */
    public String eventsTopic() {
        return Topics.eventsOf(name, ownsTopic);
    }

    @Override
    public String key() {
        return name;
    }
}
