package dev.puri.resolver.table;

import java.util.List;

/**
 * The result of a check of one part of a table.
 *
 * @param isComplete false if the writer changed the part meanwhile, so that the check found nothing
 * @param entries the number of compared index entries, for a limit of the rate
 * @param differingPartitions the partitions of which the part has wrong rows or entries
 */
public record PartCheck(boolean isComplete, int entries, List<Integer> differingPartitions) {
    static PartCheck complete(int entries, List<Integer> differingPartitions) {
        return new PartCheck(true, entries, differingPartitions);
    }

    static PartCheck incomplete(int entries) {
        return new PartCheck(false, entries, List.of());
    }
}
