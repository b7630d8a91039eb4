public import AppStoreSync
import AsyncHTTPClient
import Formats
public import Foundation
import NIOHTTP1
public import OutboundHTTP
import Synchronization

/// Calls the App Store Connect API for advanced App Clip experiences, one request per method call.
///
/// A write without a response is never sent twice. A request that was refused only because of its token is sent again with
/// another one, because this was observed with valid tokens, and nothing was done then. Safe to use from many tasks.
public final class AppStoreConnectClient: Sendable {
    public struct Settings: Sendable {
        /// Scheme, host and port, without a slash.
        public var server = "https://api.appstoreconnect.apple.com"
        /// Whether each token is for one read alone, so that what might be written with it is not.
        public var readsOnly = false
        /// Maximum time for one response.
        public var timeout = Duration.seconds(60)
        /// Lets each request go that counts against the key's budget; nil for no budget.
        public var pacer: RequestPacer?

        public init() {}
    }

    private let http: OutboundClient
    private let settings: Settings
    private let tokens: RequestTokens
    private let latestBudget = Mutex<RequestBudget?>(nil)

    /// The maximum number of attempts if the token is refused. [ours]
    private static let maximumTries = 3
    /// Several times the size of a page of 200 experiences with texts in 32 languages. [ours]
    private static let responseLimit = 33_554_432
    private static let operation = OutboundOperation("App Store Connect")

    public init(
        _ key: AppStoreConnectKey, _ http: OutboundClient, _ settings: Settings = Settings(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.http = http
        self.settings = settings
        tokens = RequestTokens(key, now: now)
    }

    /// The rate limit of the latest response; nil if none had one.
    public var budget: RequestBudget? { latestBudget.withLock { $0 } }

    // MARK: For the requests beside this file

    /// - Parameter query: names and values that are not encoded.
    func get(
        _ path: String, _ query: [(String, String)] = []
    ) async throws(AppStoreConnectError) -> JSONObject {
        try await get(settings.server + path + Self.text(query), scope: Self.scope(path, query))
    }

    /// The scope of the token for a GET.
    static func scope(_ path: String, _ query: [(String, String)]) -> String {
        let counted = query.filter { !["limit", "cursor", "sort"].contains($0.0) }.map { "\($0.0)=\($0.1)" }
        return "GET \(path)" + (counted.isEmpty ? "" : "?" + counted.joined(separator: "&"))
    }

    /// Follows a link of a response.
    /// - Parameter scope: The list that the request continues.
    func follow(_ link: String, scope: String) async throws(AppStoreConnectError) -> JSONObject {
        // The token goes nowhere else.
        guard link.hasPrefix(settings.server + "/v1/") else {
            throw .unreadableResponse(status: 200, requestID: nil)
        }
        return try await get(link, scope: scope)
    }

    private func get(_ url: String, scope: String) async throws(AppStoreConnectError) -> JSONObject {
        let scope = settings.readsOnly ? scope : nil
        return try await authorized(scope) { () throws(AppStoreConnectError) in
            try await send(.GET, url, nil, scope: scope)
        }
    }

    /// - Parameter fence: Called immediately before each request is sent, after the wait for the rate limit.
    func write(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue, _ fence: @escaping Fence
    ) async throws(AppStoreConnectError) -> JSONObject {
        guard !settings.readsOnly else { throw .readsOnly }
        return try await authorized(nil) { () throws(AppStoreConnectError) in
            try await send(method, settings.server + path, body, scope: nil, fence)
        }
    }

    /// Asks again with another token while the token is refused.
    private func authorized(
        _ scope: String?, _ ask: () async throws(AppStoreConnectError) -> JSONObject
    ) async throws(AppStoreConnectError) -> JSONObject {
        var tries = 1
        while true {
            do throws(AppStoreConnectError) {
                return try await ask()
            } catch {
                guard case .refused(let refusal) = error, refusal.status == 401, tries < Self.maximumTries
                else { throw error }
                tokens.discard(scope)
                tries += 1
            }
        }
    }

    /// Sends a part of a file to the URL of its reservation, without the token.
    func put(_ bytes: [UInt8], _ operation: UploadOperation) async throws(AppStoreConnectError) {
        let scheme = settings.server.prefix { $0 != ":" }
        guard operation.url.lowercased().hasPrefix("\(scheme)://") else { throw .unusableUpload }
        var request = HTTPClientRequest(url: operation.url)
        request.method = HTTPMethod(rawValue: operation.method)
        for header in operation.headers {
            request.headers.add(name: header.name, value: header.value)
        }
        request.body = .bytes(bytes)
        let response = try await execute(request)
        guard (200..<300).contains(response.status) else { throw .partRefused(status: response.status) }
    }

    // MARK: One exchange

    private func send(
        _ method: HTTPMethod, _ url: String, _ body: JSONValue?, scope: String?,
        _ fence: @escaping Fence = {}
    ) async throws(AppStoreConnectError) -> JSONObject {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers.add(name: "Accept", value: "application/json")
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(body.serialized())
        }
        try await paced { try await settings.pacer?.permit() }
        do {
            try await fence()
        } catch {
            throw .withdrawn("\(error)")
        }
        // The token is made after the wait, which may be longer than it lasts.
        request.headers.add(name: "Authorization", value: try await tokens.authorization(for: scope))
        let response = try await execute(request)
        let budget = RequestBudget(response.values(of: "X-Rate-Limit"))
        if let budget { latestBudget.withLock { $0 = budget } }
        let retryAfter = response.values(of: "Retry-After").first.flatMap { UInt16($0) }.map(Int.init)
        // If the rate limit cannot be recorded, the response is still valid: the next request reports the error.
        try? await settings.pacer?.observe(
            hour: budget?.hour, minute: budget?.minute,
            refusal: response.status == 429 ? .some(retryAfter) : nil)
        let requestID = response.values(of: "X-Request-ID").first
        let document = response.isCutOff ? nil : try? JSONValue(parsing: response.body).objectValue
        guard (200..<300).contains(response.status) else {
            throw .refused(
                ServiceRefusal(
                    status: response.status, body: document, requestID: requestID,
                    retryAfter: retryAfter))
        }
        guard let document else {
            throw .unreadableResponse(status: response.status, requestID: requestID)
        }
        return document
    }

    /// An error of the pacer is not an error of the response.
    private func paced(_ body: () async throws -> Void) async throws(AppStoreConnectError) {
        do {
            try await body()
        } catch {
            throw .notPaced("\(error)")
        }
    }

    private func execute(_ request: HTTPClientRequest) async throws(AppStoreConnectError) -> OutboundResponse
    {
        do throws(OutboundError) {
            return try await http.execute(
                request, limit: Self.responseLimit, timeout: settings.timeout, operation: Self.operation)
        } catch {
            throw .noResponse(error.reason)
        }
    }

    /// Characters that need no encoding in a query: the unreserved ones of RFC 3986 §2.3, and the comma of lists.
    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~,")

    private static func text(_ query: [(String, String)]) -> String {
        func encoded(_ text: String) -> String {
            text.addingPercentEncoding(
                withAllowedCharacters: Self.plain) ?? text
        }
        return query.isEmpty
            ? "" : "?" + query.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
    }
}
