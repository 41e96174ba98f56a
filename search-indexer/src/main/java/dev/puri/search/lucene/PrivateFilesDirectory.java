package dev.puri.search.lucene;

import dev.puri.search.index.PrivateFiles;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.MMapDirectory;

/** A Lucene directory that creates {@link PrivateFiles}, because searched data may be personal. */
final class PrivateFilesDirectory extends MMapDirectory {
    PrivateFilesDirectory(Path folder) throws IOException {
        super(folder);
    }

    @Override
    public IndexOutput createOutput(String name, IOContext context) throws IOException {
        return restrict(super.createOutput(name, context));
    }

    @Override
    public IndexOutput createTempOutput(String prefix, String suffix, IOContext context) throws IOException {
        return restrict(super.createTempOutput(prefix, suffix, context));
    }

    /** Restricts a new file while the file is still empty. */
    private IndexOutput restrict(IndexOutput output) throws IOException {
        PrivateFiles.restrict(getDirectory().resolve(output.getName()));
        return output;
    }
}
