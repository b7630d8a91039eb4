import Dispatch

/// A reader of foreign bytes. For any bytes, it must return a value or a named refusal.
///
/// A fuzzer generates inputs (`deploy/checks/fuzz`), and each run of the tests reads the seeds in `Tests/FuzzTargetsTests/Seeds`. A
/// target stops the process if a reader breaks a promise.
public struct FuzzTarget: Sendable {
    public enum Body: Sendable {
        case synchronous(@Sendable ([UInt8]) -> Void)
        case asynchronous(@Sendable ([UInt8]) async -> Void)
    }

    /// The name of the target, and of the folder with its seeds.
    public let name: String
    /// The maximum length of inputs in bytes. Longer inputs would only repeat parts.
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
    /// Reads an input completely on the calling thread.
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

/// Runs a task on the thread that creates it, because passing each input to another thread would take longer than reading it.
private final class CallingThread: TaskExecutor {
    static let executor = CallingThread()

    func enqueue(_ job: consuming ExecutorJob) {
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
