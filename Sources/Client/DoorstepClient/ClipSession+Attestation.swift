import Foundation

extension ClipSession {
    /// Gets a token by App Attest, if the server requires this install to attest. Call it once per launch,
    /// after the first screen is shown; later requests carry the token.
    ///
    /// Apple attests one key for each install, and the full app continues with the App Clip's key. If Apple
    /// does not respond, the session tries the same key again later, at growing intervals. After any other
    /// error it creates a new key [Apple: "Establishing your app's integrity"].
    ///
    /// - Returns: Whether requests carry a token now. False if the device does not support App Attest, if
    ///   the server does not require it, or if it is too soon to try again.
    /// - Throws: ``ClipError``, if the server does not respond or the container cannot be used; requests
    ///   continue without a token.
    @discardableResult
    public func attest() async throws(ClipError) -> Bool {
        guard let attester, attester.isSupported else { return false }
        try await attesting.begin()
        defer { attesting.end() }
        // Another call may have got a token meanwhile.
        if let token, token.until > clock.now { return true }
        token = nil
        guard try installAttestation().mayTry(at: clock.now) else { return false }
        if try await assertedToken(by: attester) { return true }
        guard try installAttestation().mayTry(at: clock.now),
            let offer = try await offer(for: .attestation), offer.attest
        else { return false }
        return try await attestedToken(by: attester, offer)
    }

    /// Returns the field `Doorstep-Assertion` for a request; nil without a challenge or without a key. The
    /// caller must have the turn to sign.
    func signature(of call: Call) async -> String? {
        guard let attester, let challenge, clock.now.timeIntervalSince(challenge.at) < Self.challengeUse,
            case .attested(let keyID)? = try? installAttestation().stage, let key = Data(base64Encoded: keyID)
        else { return nil }
        self.challenge = nil
        let digest = Self.base64URL(SHA256Digest.of(call.body ?? Data()))
        let data = ["doorstep.request.v1", call.method, call.target, challenge.text, digest]
        guard
            let assertion = try? await attester.generateAssertion(
                keyID, clientDataHash: SHA256Digest.of(data.joined(separator: "\n").utf8))
        else { return nil }
        // Byte sequences of RFC 9651 §3.3.5.
        return """
            key=:\(key.base64EncodedString()):, \
            challenge=:\(Data(challenge.text.utf8).base64EncodedString()):, \
            assertion=:\(assertion.base64EncodedString()):
            """
    }

    // MARK: - Challenges

    /// The server's challenge to attest or sign.
    private struct Offer: Decodable {
        var challenge: String
        /// In seconds.
        var expiresIn: Double
        /// Whether an install without an attested key must attest.
        var attest: Bool
    }

    private struct Grant: Decodable {
        var token: String
        var expiresIn: Double
    }

    private struct KeyBody: Codable {
        var clip: String
        var keyID: String
        var challenge: String
        var attestation: Data
    }

    private struct TokenBody: Codable {
        var keyID: String
        var challenge: String
        var assertion: Data
    }

    /// The time in seconds for which the session uses a challenge that came with a response: shorter than
    /// its validity. [ours]
    private static let challengeUse: TimeInterval = 240
    /// The time in seconds before its expiry at which a token is no longer used. [ours]
    private static let tokenMargin: TimeInterval = 60

    /// The purpose of a requested challenge. A challenge to sign a request comes with the response to the
    /// previous request.
    private enum Purpose: String, Encodable {
        case attestation, token
    }

    /// Requests a challenge; nil if the server does not support App Attest.
    private func offer(for purpose: Purpose) async throws(ClipError) -> Offer? {
        struct Body: Encodable {
            var clip: String
            var purpose: Purpose
        }
        do throws(ClipError) {
            let body = Body(clip: configuration.clip, purpose: purpose)
            return try await post("challenges", body, as: Offer.self)
        } catch .refused(let problem) where problem.code == .notFound {
            return nil
        }
    }

    private func post<Response: Decodable>(
        _ name: String, _ body: some Encodable, isRepeatable: Bool = true, budget: RetryBudget? = nil,
        as type: Response.Type
    ) async throws(ClipError) -> Response {
        let response = try await exchange(
            Call(
                method: "POST", target: "/v1/attestation/\(name)", body: Self.json(body),
                isRepeatable: isRepeatable, budget: budget ?? configuration.background))
        return try Self.read(type, from: response.body)
    }

    private func take(_ grant: Grant) {
        token = (grant.token, clock.now.addingTimeInterval(grant.expiresIn - Self.tokenMargin))
    }

    // MARK: With a key that the server knows

    /// - Returns: False if there is no such key, or no longer.
    private func assertedToken(by attester: any AppAttester) async throws(ClipError) -> Bool {
        // A second attempt, in case the other app has signed meanwhile and its greater counter arrived
        // first.
        for isLast in [false, true] {
            guard case .attested(let keyID) = try installAttestation().stage,
                let offer = try await offer(for: .token)
            else { return false }
            // A confirmation may be waiting for the turn: it waits no longer than for another confirmation.
            try await signing.begin()
            defer { signing.end() }
            let data = ["doorstep.token.v1", configuration.clip, offer.challenge]
            let assertion: Data
            do throws(AttesterFailure) {
                assertion = try await attester.generateAssertion(
                    keyID, clientDataHash: SHA256Digest.of(data.joined(separator: "\n").utf8))
            } catch {
                // The key no longer exists, for example after a restore.
                if error == .other { try change { $0 = InstallAttestation() } }
                return false
            }
            let body = TokenBody(keyID: keyID, challenge: offer.challenge, assertion: assertion)
            do throws(ClipError) {
                let budget = configuration.interactive
                take(try await post("tokens", body, isRepeatable: false, budget: budget, as: Grant.self))
                return true
            } catch .refused(let problem) where problem.code == .counterNotGreater && !isLast {
                continue
            } catch .refused(let problem) where Self.endsKey(problem) {
                let now = clock.now
                try change { $0.refuse(at: now) }
                return false
            }
        }
        return false
    }

    /// Whether a key has become unusable: unknown, revoked, or another app's.
    private static func endsKey(_ problem: ServiceProblem) -> Bool {
        problem.code == .attestationRefused || problem.code == .attestationInvalid
    }

    // MARK: With a new attestation

    private func attestedToken(
        by attester: any AppAttester, _ offer: Offer
    ) async throws(ClipError) -> Bool {
        let now = clock.now
        let body: KeyBody
        if case .unsent(let keyID, let challenge, let attestation, let until) = try installAttestation().stage,
            until > now
        {
            body = KeyBody(
                clip: configuration.clip, keyID: keyID, challenge: challenge, attestation: attestation)
        } else {
            guard let made = try await attestation(by: attester, of: offer.challenge) else { return false }
            body = made
            // Stored before it is sent, because a key can be attested only once.
            try change {
                $0.stage = .unsent(
                    keyID: made.keyID, challenge: made.challenge, attestation: made.attestation,
                    until: now.addingTimeInterval(offer.expiresIn))
            }
        }
        do throws(ClipError) {
            take(try await post("keys", body, as: Grant.self))
            try change { $0.succeed(body.keyID) }
            return true
        } catch .refused(let problem) where Self.judgesAttestation(problem) {
            try change { $0.refuse(at: now) }
            return false
        }
    }

    /// Whether the server rejected the attestation itself, and would reject it again. Otherwise it stays
    /// stored and is sent again.
    private static func judgesAttestation(_ problem: ServiceProblem) -> Bool {
        400..<500 ~= problem.status && problem.status != 429 && problem.code != .unauthorized
            && problem.code != .forbidden
    }

    /// Asks Apple to attest the stored key or, if that is unusable, one new key.
    private func attestation(
        by attester: any AppAttester, of challenge: String
    ) async throws(ClipError) -> KeyBody? {
        let now = clock.now
        for _ in 0..<2 {
            do throws(AttesterFailure) {
                let keyID: String
                if case .made(let present)? = try? installAttestation().stage {
                    keyID = present
                } else {
                    keyID = try await attester.generateKey()
                    try? change { $0.stage = .made(keyID: keyID) }
                }
                let attestation = try await attester.attestKey(
                    keyID, clientDataHash: SHA256Digest.of(challenge.utf8))
                return KeyBody(
                    clip: configuration.clip, keyID: keyID, challenge: challenge, attestation: attestation)
            } catch .serverUnavailable {
                try change { $0.fail(at: now) }
                return nil
            } catch {
                try change { $0.stage = .none }
            }
        }
        try change { $0.fail(at: now) }
        return nil
    }

    // MARK: - Storage

    /// Reads the state from the container each time, because the other app may have changed it.
    private func installAttestation() throws(ClipError) -> InstallAttestation {
        guard let data = try keep({ try $0.read(.attestation) }) else { return InstallAttestation() }
        return (try? JSONDecoder().decode(InstallAttestation.self, from: data)) ?? InstallAttestation()
    }

    private func change(_ change: (inout InstallAttestation) -> Void) throws(ClipError) {
        var state = try installAttestation()
        change(&state)
        guard let data = try? JSONEncoder().encode(state) else { throw .container }
        try keep { try $0.write(data, to: .attestation) }
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
