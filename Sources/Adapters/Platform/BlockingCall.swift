public import Foundation

extension Thread {
    /// Runs a blocking call on its own thread, because tasks and Dispatch have few threads.
    ///
    /// A cancelled or timed-out task stops waiting; the call continues, and its thread ends with it.
    /// - Parameter timeout: For how long to wait; nil for any time.
    /// - Returns: nil where it was not waited for.
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
