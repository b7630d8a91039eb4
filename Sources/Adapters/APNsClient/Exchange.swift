import NIOCore
import NIOHPACK
import Notifications
import Tenancy

/// A complete request except for the provider token, which the connection adds.
struct OutgoingRequest: Sendable {
    let headers: HPACKHeaders
    /// Nil for a request without a body.
    let body: ByteBuffer?
    /// Whether the connection adds its provider token. Tests turn this off and write the field themselves.
    var needsToken = true
}

/// The outcome of a request, not yet interpreted.
enum ExchangeOutcome: Sendable {
    case answered(Response)
    case notSent(PushFailure)
    case unanswered(PushFailure)
}

struct Response: Sendable {
    let status: Int
    let headers: HPACKHeaders
    let body: [UInt8]
    /// The ID of the connection in its pool.
    let connection: Int
    /// The provider token that the request was written with.
    var token: ProviderToken?
}

/// A request on its way. Belongs to its pool's event loop.
final class Exchange {
    let request: OutgoingRequest
    let startedAt: NIODeadline
    let deadline: NIODeadline
    /// Whose notification it is, if any tenant's.
    let tenant: TenantID?
    /// The tenant whose circuit breaker counts the response.
    let probes: TeamBreakers.Probes
    /// How often a connection was left before it accepted the request.
    var returns = 0
    private var continuation: CheckedContinuation<ExchangeOutcome, Never>?

    init(
        _ request: OutgoingRequest, of tenant: TenantID?, startedAt: NIODeadline, deadline: NIODeadline,
        probes: TeamBreakers.Probes, continuation: CheckedContinuation<ExchangeOutcome, Never>
    ) {
        self.request = request
        self.startedAt = startedAt
        self.deadline = deadline
        self.tenant = tenant
        self.probes = probes
        self.continuation = continuation
    }

    /// Passes the result to the waiting task; only the first result counts.
    func finish(_ outcome: ExchangeOutcome) {
        continuation?.resume(returning: outcome)
        continuation = nil
    }
}
