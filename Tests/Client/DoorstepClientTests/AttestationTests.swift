import AppAttest
import AppAttestSimulator
import Formats
import Foundation
import Invocation
import Synchronization
import Tenancy
import Testing

@testable import DoorstepClient

/// App Attest with a server that verifies like the real one, and a scripted device.
@Suite(.timeLimit(.minutes(10))) struct AttestationTests {
    private let clock = ManualClock()
    private let container = MemoryContainer()

    /// - Parameter before: Called before each request.
    private func session(
        _ server: AttestingServer, _ device: PlayedDevice, container: MemoryContainer? = nil,
        _ app: ClipConfiguration.RunningApp = .clip,
        before: @escaping @Sendable (TransportRequest) async -> Void = { _ in }
    ) -> ClipSession {
        let transport = ScriptedTransport { request, _ in
            await before(request)
            return await server.response(request)
        }
        return ClipSession(
            Sample.configuration(app), container: container ?? self.container, transport: transport,
            clock: clock, attester: device, chance: { 0 })
    }

    private func made(
        _ policy: AttestingServer.Policy = .init()
    ) throws -> (AttestingServer, PlayedDevice) {
        let root = try SoftwareRoot(at: clock.now)
        return (
            try AttestingServer(root: root, clock: clock, policy), try PlayedDevice(root: root, clock: clock)
        )
    }

    @Test func installIsAttestedOnceAndRenewsTokensByItsKey() async throws {
        let (server, device) = try made()
        let clip = session(server, device)
        #expect(try await clip.attest())
        #expect(try await clip.attest())
        _ = try await clip.lookUp(Sample.restaurant)
        #expect(await server.log == ["challenges", "keys", "lookup token"])

        // The full app continues with the clip's key, and so does the next launch of either.
        clock.advance(by: 3_000)
        let app = session(server, device, .full)
        #expect(try await app.attest())
        #expect(await server.log.suffix(2) == ["challenges", "tokens"])
        clock.advance(by: 3_600)
        #expect(try await app.attest())
        #expect(await server.log.suffix(2) == ["challenges", "tokens"])
        #expect(device.attestations == 1)
        // Within the hour, no request is needed.
        #expect(try await app.attest())
        #expect(await server.log.count == 7)
    }

    @Test func attestationIsSkippedIfUnsupportedOrNotOffered() async throws {
        for policy in [AttestingServer.Policy(offersAttestation: false), .init(isKnown: false)] {
            let (server, device) = try made(policy)
            #expect(try await session(server, device).attest() == false)
            #expect(device.attestations == 0 && device.keys == 0)
        }
        let (server, device) = try made()
        device.change { $0.isSupported = false }
        #expect(try await session(server, device).attest() == false)
        #expect(await server.log.isEmpty)
    }

    @Test func requestRejectedForMissingTokenIsRetriedWithToken() async throws {
        let (server, device) = try made(.init(requiresToken: true))
        let session = session(server, device)
        _ = try await session.lookUp(Sample.restaurant)
        #expect(await server.log == ["lookup", "challenges", "keys", "lookup token"])
        // If the server no longer accepts the token, the client gets a new one.
        await server.forgetTokens()
        _ = try await session.lookUp(Sample.restaurant)
        #expect(await server.log.suffix(4) == ["lookup token", "challenges", "tokens", "lookup token"])
    }

    @Test func refusalIsReportedWithoutAppAttest() async throws {
        let (server, device) = try made(.init(requiresToken: true))
        device.change { $0.isSupported = false }
        await #expect(throws: ClipError.refused(ServiceProblem(status: 403, code: .attestationRequired))) {
            try await session(server, device).lookUp(Sample.restaurant)
        }
    }

    @Test func confirmationIsSignedWithServersChallenge() async throws {
        let (server, device) = try made(.init(requiresSignature: true))
        let session = session(server, device)
        let first = try await session.confirm(Sample.restaurant, evidence: .device(.inRegion(true)))
        #expect(first.outcome == .inRegion)
        #expect(await server.log == ["confirmations", "challenges", "keys", "confirmations token signed"])
        // The challenge of the previous response is used, without an additional request.
        _ = try await session.confirm(Sample.restaurant, evidence: .none)
        #expect(await server.log.suffix(1) == ["confirmations token signed"])
        #expect(await server.log.count == 5)
        // An expired challenge is not used. The refusal contains a new one.
        clock.advance(by: 240)
        _ = try await session.confirm(Sample.restaurant, evidence: .none)
        #expect(await server.log.suffix(2) == ["confirmations token", "confirmations token signed"])
    }

    @Test func concurrentConfirmationsAreSignedOneAtATime() async throws {
        let (server, device) = try made(.init(requiresSignature: true))
        let session = session(server, device)
        try await session.attest()
        try await withThrowingTaskGroup(of: ClipConfirmation.Outcome.self) { group in
            for _ in 0..<8 {
                group.addTask { try await session.confirm(Sample.restaurant, evidence: .none).outcome }
            }
            for try await outcome in group { #expect(outcome == .inRegion) }
        }
        #expect(await server.confirmed == 8)
    }

    @Test func confirmationDoesNotWaitForAttestation() async throws {
        let (server, device) = try made()
        let gate = Turns()
        try await gate.begin()
        let (challenges, challenge) = AsyncStream.makeStream(of: Void.self)
        let session = session(server, device) { request in
            guard request.target.hasSuffix("/challenges") else { return }
            challenge.yield()
            try? await gate.begin()
        }
        async let isAttested = session.attest()
        for await _ in challenges { break }
        #expect(try await session.confirm(Sample.restaurant, evidence: .none).outcome == .inRegion)
        // Another attestation would be one too many, and can be cancelled.
        let another = Task { try await session.attest() }
        another.cancel()
        await #expect(throws: ClipError.cancelled) { try await another.value }
        gate.end()
        #expect(try await isAttested)
        #expect(device.attestations == 1)
    }

    @Test func counterConflictIsSignedAgain() async throws {
        let (server, device) = try made(.init(requiresSignature: true))
        let session = session(server, device)
        try await session.attest()
        _ = try await session.confirm(Sample.restaurant, evidence: .none)
        await server.countUp(by: 1)
        _ = try await session.confirm(Sample.restaurant, evidence: .none)
        #expect(await server.confirmed == 2)
        await server.countUp(by: 1)
        clock.advance(by: 3_600)
        #expect(try await session.attest())
        #expect(await server.log.suffix(4) == ["challenges", "tokens", "challenges", "tokens"])
    }

    @Test func appleOutageRetriesSameKeyAtGrowingIntervals() async throws {
        let (server, device) = try made()
        let session = session(server, device)
        device.change { $0.failure = .serverUnavailable }
        for pause in [60.0, 120, 240] {
            #expect(try await session.attest() == false)
            let asked = device.attestations
            clock.advance(by: pause - 1)
            #expect(try await session.attest() == false)
            #expect(device.attestations == asked)
            clock.advance(by: 1)
        }
        device.change { $0.failure = nil }
        #expect(try await session.attest())
        #expect(device.keys == 1 && device.attestations == 4)
    }

    @Test func otherAttestationErrorTriesOneNewKeyThenPauses() async throws {
        let (server, device) = try made()
        let session = session(server, device)
        device.change { $0.failure = .other }
        #expect(try await session.attest() == false)
        #expect(device.keys == 2)
        #expect(try await session.attest() == false)
        #expect(device.keys == 2)
        device.change { $0.failure = nil }
        clock.advance(by: 60)
        #expect(try await session.attest())
        #expect(device.keys == 3)
    }

    @Test func undeliveredAttestationIsSentAgainNotRemade() async throws {
        let (server, device) = try made()
        await server.change { $0.refusalOfKeys = .problem(503, "unavailable") }
        await #expect(throws: ClipError.refused(ServiceProblem(status: 503, code: .unavailable))) {
            try await session(server, device).attest()
        }
        #expect(device.attestations == 1)
        await server.change { $0.refusalOfKeys = nil }
        #expect(try await session(server, device).attest())
        #expect(device.attestations == 1)
    }

    /// If the refusal has another reason than the attestation, the client does not attest again.
    @Test(arguments: [
        (401, "unauthorized", 1), (403, "forbidden", 1), (429, "rate_limited", 1),
        (403, "attestation_refused", 2),
        (409, "key_taken", 2), (422, "invalid_field", 2),
    ])
    func rejectedAttestationIsGivenUpOnlyIfJudged(
        _ status: Int, _ code: String, _ attestations: Int
    ) async throws {
        let (server, device) = try made()
        await server.change { $0.refusalOfKeys = .problem(status, code, ["Retry-After": "3600"]) }
        _ = try? await session(server, device).attest()
        #expect(device.attestations == 1)
        await server.change { $0.refusalOfKeys = nil }
        clock.advance(by: attestations == 1 ? 1 : 86_399)
        #expect(try await session(server, device).attest() == (attestations == 1))
        clock.advance(by: 1)
        #expect(try await session(server, device).attest())
        #expect(device.attestations == attestations)
    }

    @Test func attestationWithExpiredChallengeIsGivenUpWithItsKey() async throws {
        let (server, device) = try made()
        await server.change { $0.refusalOfKeys = .problem(503, "unavailable") }
        await #expect(throws: ClipError.self) { try await session(server, device).attest() }
        clock.advance(by: 300)
        await server.change { $0.refusalOfKeys = nil }
        #expect(try await session(server, device).attest())
        #expect(device.attestations == 2 && device.keys == 2)
    }

    @Test func revokedKeyIsGivenUpForOneDay() async throws {
        let (server, device) = try made()
        let session = session(server, device)
        try await session.attest()
        await server.revoke()
        clock.advance(by: 3_600)
        #expect(try await session.attest() == false)
        clock.advance(by: 86_399)
        #expect(try await session.attest() == false)
        #expect(device.keys == 1)
        clock.advance(by: 1)
        #expect(try await session.attest())
        #expect(device.keys == 2)
    }

    @Test func keyLostByDeviceIsReplaced() async throws {
        let (server, device) = try made()
        try await session(server, device).attest()
        device.change { $0.losesKeys = true }
        #expect(try await session(server, device).attest())
        #expect(device.keys == 2 && device.attestations == 2)
    }

    @Test func clockSetBackDoesNotBlockAttestation() async throws {
        var state = InstallAttestation()
        state.refuse(at: clock.now)
        #expect(!state.mayTry(at: clock.now) && state.mayTry(at: clock.now - 1))
    }
}

/// A device with a scripted App Attest, which can fail.
private final class PlayedDevice: AppAttester {
    struct State {
        var authenticator: SoftwareAuthenticator
        var isSupported = true
        var failure: AttesterFailure?
        /// Whether the device has lost all its keys.
        var losesKeys = false
        var keys = 0
        var attestations = 0
        var attested: Set<String> = []
    }

    private let state: Mutex<State>
    private let clock: ManualClock

    init(root: SoftwareRoot, clock: ManualClock) throws {
        state = Mutex(
            State(authenticator: try SoftwareAuthenticator(root: root, appID: AttestingServer.appID())))
        self.clock = clock
    }

    var keys: Int { state.withLock { $0.keys } }
    /// The number of attestations from Apple.
    var attestations: Int { state.withLock { $0.attestations } }
    var isSupported: Bool { state.withLock { $0.isSupported } }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    func generateKey() async throws(AttesterFailure) -> String {
        state.withLock { state in
            state.keys += 1
            state.losesKeys = false
            return Data(state.authenticator.generateKey()).base64EncodedString()
        }
    }

    func attestKey(_ keyID: String, clientDataHash: Data) async throws(AttesterFailure) -> Data {
        let now = clock.now
        let made: Result<Data, AttesterFailure> = state.withLock { state in
            state.attestations += 1
            if let failure = state.failure { return .failure(failure) }
            // Apple attests a key only once.
            guard state.attested.insert(keyID).inserted, let id = Data(base64Encoded: keyID),
                let attestation = try? state.authenticator.attest(
                    keyID: Array(id), clientDataHash: Array(clientDataHash), at: now)
            else { return .failure(.other) }
            return .success(Data(attestation))
        }
        return try made.get()
    }

    func generateAssertion(
        _ keyID: String, clientDataHash: Data
    ) async throws(AttesterFailure) -> Data {
        let made: Result<Data, AttesterFailure> = state.withLock { state in
            guard !state.losesKeys, let id = Data(base64Encoded: keyID),
                let assertion = try? state.authenticator.assertion(
                    keyID: Array(id), clientDataHash: Array(clientDataHash))
            else { return .failure(.other) }
            return .success(Data(assertion))
        }
        return try made.get()
    }
}

/// The server's side of App Attest, with the verifiers and values of the real server.
private actor AttestingServer {
    struct Policy {
        var offersAttestation = true
        var isKnown = true
        var requiresToken = false
        var requiresSignature = false
        /// The response to attestations, if they are refused.
        var refusalOfKeys: ScriptedTransport.Response?
    }

    static func appID() throws -> AppID { try AppID("ABCDE12345.com.example.MyApp") }

    private(set) var log: [String] = []
    private(set) var confirmed = 0
    private var policy: Policy
    private let clock: ManualClock
    private let verifier: AttestationVerifier
    private let attestationPolicy: AttestationPolicy
    private let clip: BundleID
    private var keys: [String: (publicKey: [UInt8], counter: UInt32)] = [:]
    /// The expiry and the purpose of each challenge.
    private var challenges: [String: (end: Date, purpose: String)] = [:]
    private var tokens: [String: Date] = [:]

    init(root: SoftwareRoot, clock: ManualClock, _ policy: Policy) throws {
        self.policy = policy
        self.clock = clock
        verifier = AttestationVerifier(root: try #require(AttestationRoot(pem: root.pem)))
        attestationPolicy = AttestationPolicy(appIDs: [try Self.appID()])
        clip = try BundleID(Sample.clip)
    }

    func change(_ change: @Sendable (inout Policy) -> Void) { change(&policy) }
    func forgetTokens() { tokens = [:] }
    func revoke() { keys = [:] }
    func countUp(by count: UInt32) { for key in keys.keys { keys[key]?.counter += count } }

    func response(_ request: TransportRequest) async -> ScriptedTransport.Response {
        let name = request.url.lastPathComponent
        let isAttestation = request.url.path.hasPrefix("/v1/attestation/")
        let token = request.fields["Doorstep-Attestation"]
        let signature = request.fields["Doorstep-Assertion"]
        log.append(
            name + (token != nil && !isAttestation ? " token" : "") + (signature == nil ? "" : " signed"))
        guard policy.isKnown || !isAttestation else { return .problem(404, "not_found") }
        switch name {
        case "challenges":
            guard request["clip"] == .string(Sample.clip) else { return .problem(422, "unknown_clip") }
            guard let purpose = request["purpose"]?.stringValue, ["attestation", "token"].contains(purpose)
            else { return .problem(400, "missing_field") }
            return .json(
                200,
                [
                    "challenge": .string(challenge(for: purpose)), "expiresIn": 300,
                    "attest": .bool(policy.offersAttestation),
                ])
        case "keys":
            if let refusal = policy.refusalOfKeys { return refusal }
            return await attest(request)
        case "tokens": return assert(request)
        case "lookup":
            if let refusal = refusal(of: token) { return refusal }
            return .json(200, Sample.lookup())
        default: return confirm(request, token: token, signature: signature)
        }
    }

    private func challenge(for purpose: String) -> String {
        let text = "challenge-\(challenges.count)"
        challenges[text] = (clock.now + 300, purpose)
        return text
    }

    private func isFresh(_ challenge: String, for purpose: String) -> Bool {
        challenges[challenge].map { $0.end > clock.now && $0.purpose == purpose } ?? false
    }

    private func grant() -> ScriptedTransport.Response {
        let text = "token-\(log.count)"
        tokens[text] = clock.now + 3_600
        return .json(200, ["token": .string(text), "expiresIn": 3_600])
    }

    private func refusal(of token: String?) -> ScriptedTransport.Response? {
        guard let token else { return policy.requiresToken ? .problem(403, "attestation_required") : nil }
        return tokens[token].map { $0 > clock.now } ?? false ? nil : .problem(403, "attestation_invalid")
    }

    private func attest(_ request: TransportRequest) async -> ScriptedTransport.Response {
        guard let keyID = request["keyID"]?.stringValue, let id = Data(base64Encoded: keyID),
            let challenge = request["challenge"]?.stringValue, isFresh(challenge, for: "attestation"),
            let attestation = request["attestation"]?.stringValue.flatMap({ Data(base64Encoded: $0) }),
            let key = try? await verifier.verify(
                Array(attestation), keyID: Array(id),
                clientDataHash: ClientData.attestation(challenge: challenge).hash, policy: attestationPolicy,
                at: clock.now)
        else { return .problem(403, "attestation_refused") }
        keys[keyID] = (key.publicKey, 0)
        return grant()
    }

    private func assert(_ request: TransportRequest) -> ScriptedTransport.Response {
        guard let keyID = request["keyID"]?.stringValue, let challenge = request["challenge"]?.stringValue,
            isFresh(challenge, for: "token"),
            let assertion = request["assertion"]?.stringValue.flatMap({ Data(base64Encoded: $0) }),
            let data = ClientData.token(clip: clip, challenge: challenge)
        else { return .problem(403, "attestation_refused") }
        return verify(Array(assertion), of: keyID, data) ?? grant()
    }

    private func confirm(
        _ request: TransportRequest, token: String?, signature: String?
    ) -> ScriptedTransport.Response {
        if let refusal = refusal(of: token) { return refusal }
        let fields = ["Doorstep-Challenge": challenge(for: "request")]
        if policy.requiresSignature {
            guard let signature else { return .problem(403, "attestation_required", fields) }
            guard let field = try? AssertionField(signature) else {
                return .problem(403, "attestation_refused")
            }
            let challenge = String(decoding: field.challenge, as: UTF8.self)
            guard isFresh(challenge, for: "request"),
                let data = ClientData.request(
                    method: request.method, target: request.target, challenge: challenge,
                    body: Array(request.body ?? Data()))
            else { return .problem(403, "attestation_refused") }
            if let refusal = verify(
                field.assertion, of: Data(field.keyID).base64EncodedString(), data, fields)
            {
                return refusal
            }
        }
        confirmed += 1
        return .json(200, ["outcome": "inRegion", "certain": true, "location": .null], fields)
    }

    /// Nil if the signature is valid. Its counter is then stored.
    private func verify(
        _ assertion: [UInt8], of keyID: String, _ data: ClientData, _ fields: [String: String] = [:]
    ) -> ScriptedTransport.Response? {
        guard let key = keys[keyID], let verifier = AssertionVerifier(publicKey: key.publicKey) else {
            return .problem(403, "attestation_refused")
        }
        do throws(AttestationRefusal) {
            let verified = try verifier.verify(
                assertion, clientDataHash: data.hash, after: key.counter, policy: attestationPolicy)
            keys[keyID]?.counter = verified.counter
            return nil
        } catch {
            return error.code == "counter"
                ? .problem(409, "counter_not_greater", fields) : .problem(403, "attestation_refused")
        }
    }
}
