import NIOCore
import NIOHPACK
import Notifications

/// A request that is ready to be written.
struct OutgoingRequest: Sendable {
    let headers: HPACKHeaders
    /// Nil for a request without a body.
    let body: ByteBuffer?
}

/// What came of a request, as it came.
enum ExchangeOutcome: Sendable {
    case answered(Response)
    case notSent(PushFailure)
    case unanswered(PushFailure)
}

struct Response: Sendable {
    let status: Int
    let headers: HPACKHeaders
    let body: [UInt8]
    /// Which connection of the pool it came on.
    let connection: Int
}

/// A request on its way. Belongs to its pool's event loop.
final class Exchange {
    let request: OutgoingRequest
    let startedAt: NIODeadline
    let deadline: NIODeadline
    /// Whether the circuit breaker decides by its answer.
    let isProbe: Bool
    private var continuation: CheckedContinuation<ExchangeOutcome, Never>?

    init(
        _ request: OutgoingRequest, startedAt: NIODeadline, deadline: NIODeadline, isProbe: Bool,
        continuation: CheckedContinuation<ExchangeOutcome, Never>
    ) {
        self.request = request
        self.startedAt = startedAt
        self.deadline = deadline
        self.isProbe = isProbe
        self.continuation = continuation
    }

    /// Hands the outcome to whoever waits for it: the first that there is.
    func finish(_ outcome: ExchangeOutcome) {
        continuation?.resume(returning: outcome)
        continuation = nil
    }
}
