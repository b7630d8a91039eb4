public import Foundation

extension Thread {
    /// Runs a blocking call on its own thread, because tasks and Dispatch have few threads.
    ///
    /// A cancelled or timed-out task stops waiting; the call continues, and its thread ends with it.
    /// - Parameter timeout: The maximum wait; nil for no maximum.
    /// - Returns: Nil after a timeout or a cancellation.
    public static func result<Value: Sendable, Failure>(
        upTo timeout: Duration? = nil, of call: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure>? {
        let (results, result) = AsyncStream.makeStream(of: Result<Value, Failure>.self)
        detachNewThread {
            do throws(Failure) {
                result.yield(.success(try call()))
            } catch {
                result.yield(.failure(error))
            }
        }
        let deadline = timeout.map { timeout in
            Task {
                try? await Task.sleep(for: timeout)
                result.finish()
            }
        }
        defer { deadline?.cancel() }
        for await result in results { return result }
        return nil
    }
}
