import Formats
import HTTPTypes
import Logging
import Lookups
import Metrics
import Synchronization

/// Counts and times requests, and logs them.
///
/// The log contains the endpoint's path and never the URL, so that it contains no query values, keys or coordinates. Successful
/// requests, and refused requests without a valid key, are logged at `debug` only, because the metrics count them and a line for
/// each would cost more than the response. The first refusal of each kind is logged, and further refusals as a number
/// (``RefusalCounts``).
final class RequestObserver: Sendable {
    private struct Series: Hashable {
        let endpoint: String
        let method: String
        let status: Int
    }

    private let accessLog: AccessLog?
    private let refusals = RefusalCounts()
    /// The metrics in use, because finding a metric by its label and dimensions costs more than using it.
    private let known = Mutex(Known())

    private struct Known {
        var counters: [Series: Counter] = [:]
        var timers: [String: Timer] = [:]
        var refusals: [String: Counter] = [:]
    }

    /// Counts and times the responses of an endpoint with one status.
    ///
    /// Only the counter has labels for method and status, because a histogram has many series for each combination of labels.
    struct Responses: Sendable {
        fileprivate let counter: Counter
        fileprivate let timer: Timer

        fileprivate func record(_ duration: Duration) {
            counter.increment()
            timer.recordNanoseconds(Int64(duration.attoseconds / 1_000_000_000))
        }
    }
    /// The methods in metrics. Other methods are not named, because a client can invent any number of methods.
    private static let knownMethods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH",
    ]

    init(_ accessLog: AccessLog? = nil) {
        self.accessLog = accessLog
    }

    /// - Parameters:
    ///   - responses: The result of ``responses(_:_:endpoint:)``, if the caller has stored it.
    ///   - limit: The limit that refused the request; for a status of 500 and above, the cause.
    ///   - client: Nil if the address is unknown.
    ///   - bytes: The length of the response's body; nil if it is not known yet.
    ///   - trace: The trace that the caller named. It is read only for a line of the log.
    func record(
        _ status: HTTPResponse.Status, _ method: HTTPRequest.Method, endpoint: String,
        responses: Responses? = nil, caller: KeyHolder?, limit: String? = nil,
        client: IPAddress? = nil, bytes: Int? = nil,
        requestID: String, trace: @autoclosure () -> TraceContext? = nil, duration: Duration, _ logger: Logger
    ) {
        (responses ?? self.responses(status, method, endpoint: endpoint)).record(duration)
        if let limit, status.code < 500 { refusals(by: limit).increment() }
        let level = Self.level(of: status, isOfCaller: caller != nil)
        let isLogged = isLogged(status, endpoint, caller, limit, at: level, logger)
        guard isLogged || accessLog != nil else { return }
        var metadata: Logger.Metadata = [
            "request_id": "\(requestID)", "method": "\(Self.name(of: method))", "route": "\(endpoint)",
            "status": "\(status.code)",
            "duration_us": "\(Int64(duration / .microseconds(1)))",
        ]
        if let trace = trace() { metadata["trace_id"] = "\(trace.id)" }
        if let caller {
            metadata["tenant"] = "\(caller.tenant)"
            metadata["key"] = "\(caller.key)"
        }
        if let limit { metadata[status.code < 500 ? "limit" : "cause"] = "\(limit)" }
        if isLogged { logger.log(level: level, "answered", metadata: metadata) }
        accessLog?.record(metadata, from: client, bytes: bytes)
    }

    /// Whether a response is logged. The first refusal of each kind is logged; at `debug`, every request is.
    private func isLogged(
        _ status: HTTPResponse.Status, _ endpoint: String, _ caller: KeyHolder?, _ limit: String?,
        at level: Logger.Level, _ logger: Logger
    ) -> Bool {
        guard logger.logLevel <= level else { return false }
        guard status.code >= 400, logger.logLevel > .debug else { return true }
        return refusals.add(
            RefusalCounts.Kind(
                endpoint: endpoint, status: status.code, limit: limit, tenant: caller?.tenant,
                key: caller?.key))
    }

    /// Refused requests without a valid key are at `debug`, because they say nothing about the server's health.
    private static func level(of status: HTTPResponse.Status, isOfCaller: Bool) -> Logger.Level {
        switch status.code {
        case ..<400: .debug
        case 429: .info
        case 500...: .warning
        default: isOfCaller ? .info : .debug
        }
    }

    /// Logs the counts of refusals at intervals until the task is cancelled, and then once more.
    func tellOfRefusals(to logger: Logger) async {
        repeat {
            try? await Task.sleep(for: RefusalCounts.interval)
            tellOfRefusalsNow(to: logger)
        } while !Task.isCancelled
    }

    /// Logs the counts since the last call, with a line for each kind.
    func tellOfRefusalsNow(to logger: Logger) {
        for (kind, count) in refusals.take() {
            var metadata: Logger.Metadata = [
                "count": "\(count)", "route": "\(kind.endpoint)", "status": "\(kind.status)",
            ]
            metadata[kind.status < 500 ? "limit" : "cause"] = kind.limit.map { "\($0)" }
            metadata["tenant"] = kind.tenant.map { "\($0)" }
            metadata["key"] = kind.key.map { "\($0)" }
            logger.info("refused", metadata: metadata)
        }
    }

    /// The counter and the timer of an endpoint's responses with a status.
    func responses(
        _ status: HTTPResponse.Status, _ method: HTTPRequest.Method, endpoint: String
    ) -> Responses {
        let series = Series(endpoint: endpoint, method: Self.name(of: method), status: status.code)
        return known.withLock { known in
            let counter =
                known.counters[series]
                ?? Counter(
                    label: "doorstep_http_requests",
                    dimensions: [
                        ("endpoint", series.endpoint), ("method", series.method),
                        ("status", "\(series.status)"),
                    ])
            let timer =
                known.timers[endpoint]
                ?? Timer(
                    label: "doorstep_http_request_duration_seconds", dimensions: [("endpoint", endpoint)])
            known.counters[series] = counter
            known.timers[endpoint] = timer
            return Responses(counter: counter, timer: timer)
        }
    }

    private func refusals(by limit: String) -> Counter {
        known.withLock { known in
            let counter =
                known.refusals[limit]
                ?? Counter(label: "doorstep_http_refusals", dimensions: [("limit", limit)])
            known.refusals[limit] = counter
            return counter
        }
    }

    static func name(of method: HTTPRequest.Method) -> String {
        knownMethods.contains(method.rawValue) ? method.rawValue : "other"
    }
}
