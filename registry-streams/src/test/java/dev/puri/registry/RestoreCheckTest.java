package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class RestoreCheckTest {
    @Test
    void aMistakeOfThePartitionPreventsItsRestore() {
        RestoreCheck check = new RestoreCheck(partition -> {
            throw new WrongTopicsException(List.of(partition + " is incomplete"));
        });

        assertThatThrownBy(() -> check.onRestoreStart(new TopicPartition("changelog", 3), "store", 10, 20))
                .isInstanceOf(WrongTopicsException.class)
                .hasMessage("changelog-3 is incomplete");
    }
}
