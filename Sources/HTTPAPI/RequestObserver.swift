import HTTPTypes
import Logging
import Metrics
import Routing
import Synchronization

/// Counts and times requests, and logs them.
///
/// The log has the route and never the URL: query values, keys and coordinates are in neither. What was answered as
/// asked is logged at `debug` only: the metrics tell of it, and a line each would cost more than the answer.
final class RequestObserver: Sendable {
    private struct Series: Hashable {
        let route: String
        let method: String
        let status: Int
    }

    /// Of the answers that are most frequent by far, in the order of the routes.
    private let successes = AnswerRoute.allCases.map { route in
        RequestObserver.timer(Series(route: route.path, method: route.method.rawValue, status: 200))
    }
    /// Kept, since to find a timer by its label and dimensions costs more than to use it.
    private let timers = Mutex<[Series: Timer]>([:])
    /// Methods that are named in metrics; a client can invent any number of others.
    private static let knownMethods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH",
    ]

    /// - Parameter answered: the route, where it is one of those under `/v1`.
    func record(
        _ status: HTTPResponse.Status, _ method: HTTPRequest.Method, route: String,
        answered: AnswerRoute? = nil, caller: KeyHolder?,
        requestID: String, duration: Duration, _ logger: Logger
    ) {
        let method = Self.knownMethods.contains(method.rawValue) ? method.rawValue : "other"
        let (seconds, attoseconds) = duration.components
        let timer =
            if let answered, status == .ok { successes[answered.index] } else {
                timer(Series(route: route, method: method, status: status.code))
            }
        timer.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        let level: Logger.Level = status.code < 400 ? .debug : .info
        guard logger.logLevel <= level else { return }
        var metadata: Logger.Metadata = [
            "request_id": "\(requestID)", "method": "\(method)", "route": "\(route)",
            "status": "\(status.code)",
            "duration_us": "\(Int64(duration / .microseconds(1)))",
        ]
        if let caller {
            metadata["tenant"] = "\(caller.tenant)"
            metadata["key"] = "\(caller.key)"
        }
        logger.log(level: level, "answered", metadata: metadata)
    }

    private func timer(_ series: Series) -> Timer {
        timers.withLock { timers in
            if let known = timers[series] { return known }
            let timer = Self.timer(series)
            timers[series] = timer
            return timer
        }
    }

    private static func timer(_ series: Series) -> Timer {
        Timer(
            label: "http_server_request_duration_seconds",
            dimensions: [("route", series.route), ("method", series.method), ("status", "\(series.status)")])
    }
}

extension AnswerRoute {
    fileprivate var index: Int {
        switch self {
        case .lookUp: 0
        case .confirm: 1
        case .compose: 2
        }
    }
}
