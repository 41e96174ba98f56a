package dev.puri.cli.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Puri;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BoundedNamesTest {
    private final List<Set<Puri>> passedOn = new ArrayList<>();
    private final BoundedNames names = new BoundedNames(2, full -> passedOn.add(Set.copyOf(full)));

    @Test
    void passesOnTheNamesWhenItHasTheMaximum() {
        for (int id : List.of(1, 1, 2, 1, 3, 4)) {
            names.add(name(id));
        }

        assertThat(passedOn).containsExactly(Set.of(name(1), name(2)), Set.of(name(1), name(3)));
        assertThat(names.rest()).containsExactly(name(4));
    }

    private static Puri name(int id) {
        return Puri.parse("music:tracks:" + id);
    }
}
