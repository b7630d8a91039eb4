import Foundation

/// A file in a directory that belongs to the server's account.
///
/// Root writes to the file, too. The account could replace the file by a link to a file of root.
enum AccountFile {
    /// Replaces the content of an existing file; false if it cannot, or would have to follow a link.
    static func replace(_ name: String, in directory: String, with text: String) -> Bool {
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard parent >= 0 else { return false }
        defer { close(parent) }
        // Without O_NONBLOCK, opening would block if the account put a pipe without a reader there.
        let file = openat(parent, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1,
            ftruncate(file, 0) == 0
        else { return false }
        return (try? handle.write(contentsOf: Data(text.utf8))) != nil
    }
}
