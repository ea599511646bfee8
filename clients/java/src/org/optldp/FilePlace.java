package org.optldp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** A file as the place of a text, where there are permissions its owner's alone. */
public final class FilePlace implements OverTime.Place {
    private final Path path;

    public FilePlace(Path path) {
        this.path = path.toAbsolutePath();
    }

    @Override
    public String read() throws IOException {
        return Files.exists(path) ? Files.readString(path) : null;
    }

    @Override
    public void write(String text) throws IOException {
        Path beside = path.resolveSibling(path.getFileName() + ".new");
        boolean posix = path.getFileSystem().supportedFileAttributeViews().contains("posix");
        FileAttribute<?>[] alone = {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))};
        Set<StandardOpenOption> anew = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        Files.deleteIfExists(beside);
        try (FileChannel file = FileChannel.open(beside, anew, posix ? alone : new FileAttribute<?>[0])) {
            for (ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)); bytes.hasRemaining(); ) file.write(bytes);
            file.force(true);
        }
        Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        if (!posix) return; // where a folder is no file to open
        try (FileChannel folder = FileChannel.open(path.getParent(), StandardOpenOption.READ)) {
            folder.force(true); // so that a new name outlives a crash, too
        }
    }
}
