public import Foundation

extension Thread {
    /// What a call comes to that blocks, on a thread of its own: tasks' threads are few, and so are those of Dispatch.
    ///
    /// Whoever is cancelled, or has waited long enough, waits no longer; the call goes on, and its thread ends with it.
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
