import APNsPayload
import APNsSimulator
import Crypto
import Foundation
import Logging
import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL
import Notifications
import Tenancy

@testable import APNsClient

/// A provider whose requests are valid until a test changes them, with a simulator.
///
///
/// It uses the connections of the client, but no other part of the client: that part sends valid requests only.
struct Provider {
    let simulator: APNsSimulator
    private let pool: NIOLoopBoundBox<ConnectionPool>

    static let team = "TEAM123456"
    static let keyID = "KEY1234567"
    static let bundleID = "com.example.Coffee.Clip"
    static let key = P256.Signing.PrivateKey()
    /// All tests use the same token, because a connection may use only few.
    static let ownToken = token()
    static let device = String(repeating: "0f", count: 32)

    /// A valid request.
    struct Push {
        var method = "POST"
        var path = "/3/device/\(Provider.device)"
        var headers: [(String, String)] = [
            ("apns-push-type", "alert"), ("apns-topic", Provider.bundleID), ("apns-priority", "10"),
            ("apns-expiration", "0"), ("apns-id", UUID().uuidString.lowercased()),
        ]
        var authorization: String? = Provider.ownToken
        var body = #"{"aps":{"alert":"Ready"}}"#

        mutating func set(_ name: String, _ value: String?) {
            headers.removeAll { $0.0 == name }
            if let value { headers.append((name, value)) }
        }
    }

    /// A response of the simulator.
    struct Answer {
        let status: Int
        let headers: HPACKHeaders
        let body: [String: Any]

        var reason: String? { body["reason"] as? String }
    }

    /// Lends a simulator with the team, and one client with one connection.
    static func lend<Result>(
        rules: [Rule] = [], options change: (inout APNsSimulator.Options) -> Void = { _ in },
        _ body: (Provider) async throws -> Result
    ) async throws -> Result {
        var options = APNsSimulator.Options(teams: [
            APNsSimulator.Team(
                id: team, keys: [.init(id: keyID, publicKey: key.publicKey.pemRepresentation)])
        ])
        change(&options)
        return try await APNsSimulator.withSimulator(options) { simulator in
            simulator.setRules(rules)
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.applicationProtocols = ["h2"]
            tls.trustRoots = .certificates(
                try NIOSSLCertificate.fromPEMBytes(Array((simulator.authority ?? "").utf8)))
            var settings = APNsClient.Settings()
            settings.connections = 1
            settings.requestTimeout = .seconds(600)
            settings.connectTimeout = .seconds(600)
            let teamID = try TeamID(team)
            let tokens = ProviderTokens(
                [try APNsKey(team: teamID, id: keyID, pem: key.pemRepresentation)], now: { Date() },
                uptime: { .now })
            let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
            let pool = NIOLoopBoundBox.makeBoxSendingValue(
                ConnectionPool(
                    address: APNsClient.Address(host: "localhost", port: simulator.port), settings: settings,
                    tls: try NIOSSLContext(configuration: tls), metrics: PoolMetrics(.sandbox),
                    tokens: tokens, place: .init(team: teamID, environment: .sandbox),
                    logger: Logger(label: "test"), eventLoop: eventLoop), eventLoop: eventLoop)
            let outcome: Swift.Result<Result, any Error>
            do {
                outcome = .success(try await body(Provider(simulator: simulator, pool: pool)))
            } catch {
                outcome = .failure(error)
            }
            let done = eventLoop.makePromise(of: Void.self)
            eventLoop.execute { pool.value.shutDown(done) }
            try await done.futureResult.get()
            return try outcome.get()
        }
    }

    struct NoResponse: Error {}

    func send(_ push: Push) async throws -> Answer {
        var headers: HPACKHeaders = [
            ":method": push.method, ":scheme": "https", ":authority": "localhost", ":path": push.path,
        ]
        for (name, value) in push.headers { headers.add(name: name, value: value) }
        if let authorization = push.authorization {
            headers.add(name: "authorization", value: authorization)
        }
        let request = OutgoingRequest(
            headers: headers, body: push.body.isEmpty ? nil : ByteBuffer(string: push.body),
            needsToken: false)
        let outcome = await withCheckedContinuation { continuation in
            pool.eventLoop.execute {
                pool.value.send(request, of: nil, deadline: .distantFuture, continuation)
            }
        }
        guard case .answered(let response) = outcome else { throw NoResponse() }
        let object = try? JSONSerialization.jsonObject(with: Data(response.body))
        return Answer(
            status: response.status, headers: response.headers, body: object as? [String: Any] ?? [:])
    }

    /// Sends a valid request with one change.
    func send(_ change: (inout Push) -> Void = { _ in }) async throws -> Answer {
        var push = Push()
        change(&push)
        return try await send(push)
    }

    /// The value of `authorization`.
    static func token(
        team: String = team, keyID: String? = keyID, key: P256.Signing.PrivateKey = key,
        issuedAt: Date = Date(), algorithm: String = "ES256"
    ) -> String {
        func base64URL(_ data: Data) -> String {
            data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }
        let header = #"{"alg":"\#(algorithm)"\#(keyID.map { #","kid":"\#($0)""# } ?? "")}"#
        let claims = #"{"iss":"\#(team)","iat":\#(Int(issuedAt.timeIntervalSince1970))}"#
        let text = base64URL(Data(header.utf8)) + "." + base64URL(Data(claims.utf8))
        let signature = (try? key.signature(for: Data(text.utf8)))!
        return "bearer \(text).\(base64URL(signature.rawRepresentation))"
    }
}
