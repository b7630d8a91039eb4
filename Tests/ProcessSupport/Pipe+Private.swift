public import Foundation

extension Pipe {
    /// A pipe that no process has but the one it is given to.
    ///
    /// Foundation's is inherited by whatever is started in another thread at that moment: by a PostgreSQL, which then keeps
    /// open until the end what a reader waits to see closed.
    public static func makePrivate() -> Pipe {
        let pipe = Pipe()
        for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
            _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        return pipe
    }
}
