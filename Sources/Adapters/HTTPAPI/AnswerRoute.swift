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
        case .lookUp: "/v1/lookup"
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

    /// The route that a request asks for in so many letters, and its query; whatever is written otherwise is the router's to
    /// understand.
    static func find(
        _ method: String, _ target: String, in routes: [AnswerRoute] = allCases
    ) -> (route: AnswerRoute, query: Substring)? {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        guard
            let route = routes.first(where: {
                $0.path.utf8.elementsEqual(path) && $0.method.rawValue == method
            }),
            // Visible ASCII, and no fragment.
            target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { return nil }
        return (route, target[path.endIndex...].dropFirst())
    }

    /// The largest body that is read, 64 KiB: sixteen times the largest payload APNs takes.
    static let maximumBodyLength = 65_536
}
