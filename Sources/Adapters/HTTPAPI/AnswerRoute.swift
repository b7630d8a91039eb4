import HTTPTypes
import Tenancy

/// A route under `/v1` that is answered from memory, without waiting for anything.
enum AnswerRoute: CaseIterable {
    case lookUp, confirm, compose

    var method: HTTPRequest.Method {
        switch self {
        case .lookUp: .get
        case .confirm, .compose: .post
        }
    }

    var path: String {
        switch self {
        case .lookUp: "/v1/locations"
        case .confirm: "/v1/confirmations"
        case .compose: "/v1/payloads"
        }
    }

    var access: RouteAccess { RouteAccess(scope: scope, takesBody: method == .post) }

    private var scope: Scope {
        switch self {
        case .lookUp: .lookUp
        case .confirm: .confirm
        case .compose: .compose
        }
    }

    /// The largest body that is read, 64 KiB: sixteen times the largest payload APNs takes.
    static let maximumBodyLength = 65_536
}
