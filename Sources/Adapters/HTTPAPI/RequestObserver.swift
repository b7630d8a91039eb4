import HTTPTypes
import Logging
import Lookups
import Metrics
import Synchronization

/// Counts and times requests, and logs them.
///
/// The log has the route and never the URL: query values, keys and coordinates are in neither. What was answered as
/// asked, and what nobody's key asked for, is logged at `debug` only: the metrics tell of it, and a line each would cost
/// more than the answer. Of a kind of refusals the first is logged, and the others by count: ``RefusalCounts``.
final class RequestObserver: Sendable {
    private struct Series: Hashable {
        let endpoint: String
        let method: String
        let status: Int
    }

    private let refusals = RefusalCounts()
    /// Kept, since to find a timer by its label and dimensions costs more than to use it.
    private let timers = Mutex<[Series: Timer]>([:])
    /// Methods that are named in metrics; a client can invent any number of others.
    private static let knownMethods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH",
    ]

    /// - Parameters:
    ///   - timer: What ``timer(_:_:endpoint:)`` gives for these, where the caller has kept it.
    ///   - limit: the one that the request was refused for.
    func record(
        _ status: HTTPResponse.Status, _ method: HTTPRequest.Method, endpoint: String,
        timer: Timer? = nil, caller: KeyHolder?, limit: String? = nil,
        requestID: String, duration: Duration, _ logger: Logger
    ) {
        (timer ?? self.timer(status, method, endpoint: endpoint)).recordNanoseconds(
            Int64(duration.attoseconds / 1_000_000_000))
        let level = Self.level(of: status, isOfCaller: caller != nil)
        guard logger.logLevel <= level else { return }
        // At `debug` every request has its line.
        if status.code >= 400, logger.logLevel > .debug {
            let kind = RefusalCounts.Kind(
                endpoint: endpoint, status: status.code, limit: limit, tenant: caller?.tenant,
                key: caller?.key)
            guard refusals.add(kind) else { return }
        }
        var metadata: Logger.Metadata = [
            "request_id": "\(requestID)", "method": "\(Self.name(of: method))", "route": "\(endpoint)",
            "status": "\(status.code)",
            "duration_us": "\(Int64(duration / .microseconds(1)))",
        ]
        if let caller {
            metadata["tenant"] = "\(caller.tenant)"
            metadata["key"] = "\(caller.key)"
        }
        if let limit { metadata["limit"] = "\(limit)" }
        logger.log(level: level, "answered", metadata: metadata)
    }

    /// What strangers and monitors ask for, and are told that there is not, says nothing of how the server does.
    private static func level(of status: HTTPResponse.Status, isOfCaller: Bool) -> Logger.Level {
        switch status.code {
        case ..<400: .debug
        case 429, 500...: .info
        default: isOfCaller ? .info : .debug
        }
    }

    /// Tells the log how often requests were refused, again and again until the task is cancelled, and once more then.
    func tellOfRefusals(to logger: Logger) async {
        repeat {
            try? await Task.sleep(for: RefusalCounts.interval)
            tellOfRefusalsNow(to: logger)
        } while !Task.isCancelled
    }

    /// Tells how many came since it was last told, one line for all of a kind.
    func tellOfRefusalsNow(to logger: Logger) {
        for (kind, count) in refusals.take() {
            var metadata: Logger.Metadata = [
                "count": "\(count)", "route": "\(kind.endpoint)", "status": "\(kind.status)",
            ]
            metadata["limit"] = kind.limit.map { "\($0)" }
            metadata["tenant"] = kind.tenant.map { "\($0)" }
            metadata["key"] = kind.key.map { "\($0)" }
            logger.info("refused", metadata: metadata)
        }
    }

    /// What counts and times the answers of a route with a status.
    func timer(_ status: HTTPResponse.Status, _ method: HTTPRequest.Method, endpoint: String) -> Timer {
        let series = Series(endpoint: endpoint, method: Self.name(of: method), status: status.code)
        return timers.withLock { timers in
            if let known = timers[series] { return known }
            let timer = Timer(
                label: "http_server_request_duration_seconds",
                dimensions: [
                    ("route", series.endpoint), ("method", series.method), ("status", "\(series.status)"),
                ])
            timers[series] = timer
            return timer
        }
    }

    private static func name(of method: HTTPRequest.Method) -> String {
        knownMethods.contains(method.rawValue) ? method.rawValue : "other"
    }
}
