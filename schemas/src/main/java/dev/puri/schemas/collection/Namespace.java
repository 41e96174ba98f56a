package dev.puri.schemas.collection;

import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;

/**
 * What is declared of one namespace.
 *
 * @param name a segment in any casing, kept canonical
 * @param ownsTopic whether its events come on a topic of its own and are refused anywhere else; never
 *     undone, because the topic's access list is what the other services rely on
 */
public record Namespace(String name, boolean ownsTopic) implements Declaration {
    /**
     * Checks the parts.
     *
     * @throws InvalidNameException when the name is no segment
     * @throws IllegalArgumentException when it shall own a topic and has characters that a topic's name
     *     may not have
     */
    public Namespace {
        name = Puri.parse(name + ":x:x").namespace();
        if (ownsTopic && !Topics.mayOwnTopic(name)) {
            throw new IllegalArgumentException("the namespace " + name
                    + " cannot own a topic: names of topics are made of a-z 0-9 . _ - and it has others");
        }
    }

    /** The topic on which its events must come. */
    public String eventsTopic() {
        return Topics.eventsOf(name, ownsTopic);
    }

    @Override
    public String key() {
        return name;
    }
}
