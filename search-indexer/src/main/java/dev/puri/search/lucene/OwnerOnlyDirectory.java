package dev.puri.search.lucene;

import dev.puri.search.index.OwnerOnly;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.MMapDirectory;

/** A Lucene directory that creates files only their owner can read, because searched data may be personal. */
final class OwnerOnlyDirectory extends MMapDirectory {
    OwnerOnlyDirectory(Path folder) throws IOException {
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
        OwnerOnly.restrict(getDirectory().resolve(output.getName()));
        return output;
    }
}
