import HTTPTypes
import Logging
import Metrics
import RateLimiting
import Routing
import Synchronization
import Tenancy

/// Counts and times requests, and logs them.
///
/// The log has the route and never the URL: query values, keys and coordinates are in neither. What was answered as
/// asked, and what nobody's key asked for, is logged at `debug` only: the metrics tell of it, and a line each would cost
/// more than the answer. Of a tenant's refusals, those that come too fast are logged by their count.
final class RequestObserver: Sendable {
    fileprivate struct Series: Hashable {
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

    /// Which lines of the log would say the same, but for the request's ID and time.
    fileprivate struct Kind: Hashable {
        let tenant: TenantID?
        let key: KeyID?
        let series: Series
    }

    /// How many lines of each tenant's refusals, and of nobody's, are logged one by one: each is written before the next
    /// answer is. [ours]
    private static let lineLimit = RateLimit(perSecond: 10, burst: 100)
    private let lines = RateLimiter<TenantID?>(capacity: 16_384)
    private let unlogged = Mutex<[Kind: Int]>([:])
    private static let countInterval = Duration.seconds(10)

    /// - Parameter answered: the route, where it is one of those under `/v1`.
    func record(
        _ status: HTTPResponse.Status, _ method: HTTPRequest.Method, route: String,
        answered: AnswerRoute? = nil, caller: KeyHolder?,
        requestID: String, duration: Duration, _ logger: Logger
    ) {
        let method = Self.knownMethods.contains(method.rawValue) ? method.rawValue : "other"
        let (seconds, attoseconds) = duration.components
        let series = Series(route: route, method: method, status: status.code)
        let timer = if let answered, status == .ok { successes[answered.index] } else { timer(series) }
        timer.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        let level = Self.level(of: status, isOfCaller: caller != nil)
        guard logger.logLevel <= level else { return }
        let kind = Kind(tenant: caller?.tenant, key: caller?.key, series: series)
        // At `debug` every request has its line.
        if logger.logLevel > .debug, let limit = Self.lineLimit,
            !lines.take(kind.tenant, limit, at: .now).isAdmitted
        {
            unlogged.withLock { $0[kind, default: 0] += 1 }
            return
        }
        var metadata = kind.metadata
        metadata["request_id"] = "\(requestID)"
        metadata["duration_us"] = "\(Int64(duration / .microseconds(1)))"
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

    /// Logs every few seconds how many lines were left out, until the task is cancelled.
    func countUnlogged(_ logger: Logger) async {
        while (try? await Task.sleep(for: Self.countInterval)) != nil { logUnlogged(logger) }
        logUnlogged(logger)
    }

    /// Logs how many lines were left out since it was last asked, one line for all that would say the same.
    func logUnlogged(_ logger: Logger) {
        let counts = unlogged.withLock { counts in
            defer { counts = [:] }
            return counts
        }
        for (kind, count) in counts {
            var metadata = kind.metadata
            metadata["count"] = "\(count)"
            logger.info("answered so often that not each is logged", metadata: metadata)
        }
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

extension RequestObserver.Kind {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "method": "\(series.method)", "route": "\(series.route)", "status": "\(series.status)",
        ]
        if let tenant { metadata["tenant"] = "\(tenant)" }
        if let key { metadata["key"] = "\(key)" }
        return metadata
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
