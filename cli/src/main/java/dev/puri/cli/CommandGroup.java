package dev.puri.cli;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Base class of commands that do nothing without a subcommand. */
abstract class CommandGroup implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public final void run() {
        List<String> names = List.copyOf(spec.subcommands().keySet());
        String allButLast = String.join(", ", names.subList(0, names.size() - 1));
        throw new ParameterException(
                spec.commandLine(), "missing subcommand: " + allButLast + " or " + names.getLast());
    }
}
