import Dispatch

/// Something that reads bytes which others write: whatever they are, it gives a value or a refusal by name.
///
/// Tried with bytes that a fuzzer makes up (`deploy/checks/fuzz`), and with those of `Tests/FuzzTargetsTests/Seeds` in each
/// run of the tests. A target stops the process where what it read breaks a promise.
public struct FuzzTarget: Sendable {
    public enum Body: Sendable {
        case synchronous(@Sendable ([UInt8]) -> Void)
        case asynchronous(@Sendable ([UInt8]) async -> Void)
    }

    /// Its seeds are in the folder of this name.
    public let name: String
    /// In bytes: what the target reads is longer than this only as more of the same.
    public let maximumLength: Int
    public let body: Body

    init(_ name: String, upTo maximumLength: Int, _ body: @escaping @Sendable ([UInt8]) -> Void) {
        self.name = name
        self.maximumLength = maximumLength
        self.body = .synchronous(body)
    }

    init(
        awaiting name: String, upTo maximumLength: Int, _ body: @escaping @Sendable ([UInt8]) async -> Void
    ) {
        self.name = name
        self.maximumLength = maximumLength
        self.body = .asynchronous(body)
    }

    public static let all =
        [url, urlPrefix, address, json, payload, csv, jsonLines, archive, association, page]
        + [query, form, fields, dnsResponse]
        + [copy, table, image, cbor, authenticatorData, attestation, assertion, assertionField]
        + [challenge, token, receipt, receiptKeys]
}

extension FuzzTarget {
    /// Reads an input, all of it on the calling thread.
    public func read(_ input: [UInt8]) {
        switch body {
        case .synchronous(let body): body(input)
        case .asynchronous(let body):
            let end = DispatchSemaphore(value: 0)
            Task.detached(executorPreference: CallingThread.executor) {
                await body(input)
                end.signal()
            }
            end.wait()
        }
    }
}

/// Runs a task where it is made: to hand each input to another thread would take longer than to read it.
private final class CallingThread: TaskExecutor {
    static let executor = CallingThread()

    func enqueue(_ job: consuming ExecutorJob) {
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
