#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends by `URLSession`, without cookies and without a cache on disk: the session has its own.
public struct URLSessionTransport: HTTPTransport {
    private let session: URLSession

    /// Takes an ephemeral session of its own.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        self.init(session: URLSession(configuration: configuration))
    }

    /// - Parameter session: A custom session, for example one that pins certificates.
    public init(session: URLSession) {
        self.session = session
    }

    /// Errors before anything was sent are ``TransportFailure/notSent``; the request can be repeated.
    public func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        var sent = URLRequest(url: request.url)
        sent.httpMethod = request.method
        sent.httpBody = request.body
        sent.timeoutInterval = request.timeout / .seconds(1)
        for (name, value) in request.fields { sent.setValue(value, forHTTPHeaderField: name) }
        let exchange = RunningExchange()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchange.start(
                    session.dataTask(with: sent) { body, response, error in
                        continuation.resume(returning: Self.outcome(body, response, error))
                    })
            }
        } onCancel: {
            exchange.cancel()
        }
        return try outcome.get()
    }

    private static func outcome(
        _ body: Data?, _ response: URLResponse?, _ error: (any Error)?
    ) -> Result<TransportResponse, TransportFailure> {
        if let response = response as? HTTPURLResponse, error == nil {
            var fields: [String: String] = [:]
            for (name, value) in response.allHeaderFields {
                if let name = name as? String, let value = value as? String { fields[name] = value }
            }
            return .success(
                TransportResponse(status: response.statusCode, fields: fields, body: body ?? Data()))
        }
        return switch (error as? URLError)?.code {
        case .cancelled: .failure(.cancelled)
        // No connection was made, so nothing was sent.
        case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
            .dataNotAllowed, .internationalRoamingOff, .secureConnectionFailed,
            .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid, .badURL, .unsupportedURL:
            .failure(.notSent)
        default: .failure(.interrupted)
        }
    }
}

/// Passes a task to the cancellation handler, whether the task has begun or not.
private final class RunningExchange: Sendable {
    private let lock = NSLock()
    // `lock` protects reads and writes.
    nonisolated(unsafe) private var task: URLSessionDataTask?
    nonisolated(unsafe) private var isCancelled = false

    func start(_ task: URLSessionDataTask) {
        let isCancelled = lock.withLock {
            self.task = task
            return self.isCancelled
        }
        task.resume()
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = lock.withLock {
            isCancelled = true
            return self.task
        }
        task?.cancel()
    }
}
