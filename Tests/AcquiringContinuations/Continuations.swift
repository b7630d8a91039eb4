/// `withCheckedContinuation` for the thread sanitizer: code of ours in the place of the standard library's, which is compiled without
/// it.
///
/// CThreadSanitizer knows of continuations that the program begins itself. Our targets are built with this module imported
/// everywhere (`-import-module`), and say nothing of it: Package.swift and deploy/checks/sanitizers.
public func withCheckedContinuation<T>(
    isolation: isolated (any Actor)? = #isolation, function: String = #function,
    _ body: (CheckedContinuation<T, Never>) -> Void
) async -> sending T {
    await withUnsafeContinuation { body(CheckedContinuation(continuation: $0, function: function)) }
}

/// As ``withCheckedContinuation(isolation:function:_:)``, and throws what the continuation is resumed with.
public func withCheckedThrowingContinuation<T>(
    isolation: isolated (any Actor)? = #isolation, function: String = #function,
    _ body: (CheckedContinuation<T, any Error>) -> Void
) async throws -> sending T {
    try await withUnsafeThrowingContinuation {
        body(CheckedContinuation(continuation: $0, function: function))
    }
}
