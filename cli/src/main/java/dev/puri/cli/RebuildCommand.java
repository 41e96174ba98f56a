package dev.puri.cli;

import picocli.CommandLine.Command;

@Command(
        name = "rebuild",
        description = "Fill a copy of the registry again from its topics, for example because it differs from them.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {RebuildCommand.TableCommand.class, RebuildCommand.IndexCommand.class})
final class RebuildCommand extends CommandGroup {
    @Command(
            name = "table",
            description = {
                "Fill a new table of a resolver from the beginning of its topic, without its snapshot. Then replace the"
                        + " serving table. Shows the progress.",
                "The resolver answers meanwhile, but is not ready. If this command is interrupted, the rebuild continues."
            })
    static final class TableCommand extends Subcommand {
        @Override
        public Integer call() throws InterruptedException {
            return RebuildProgress.ofTable(this).start();
        }
    }

    @Command(
            name = "index",
            description = "Rebuild the index of a search indexer, as puri search reindex does. Shows the progress.")
    static final class IndexCommand extends Subcommand {
        @Override
        public Integer call() throws InterruptedException {
            return RebuildProgress.ofIndex(this, ApiClient.ofIndexer(console(), settings()))
                    .start();
        }
    }
}
