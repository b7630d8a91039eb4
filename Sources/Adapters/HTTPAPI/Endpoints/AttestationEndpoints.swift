import AppAttest
import Confirmations
import Formats
import Foundation
import HTTPTypes
import Lookups
import Tenancy

/// The endpoints with which clips attest their keys and get tokens for them.
struct AttestationEndpoints: Sendable {
    let control: AttestationControl
    let limiter: AdditionLimiter

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .post, "/v1/attestation/challenges", .stored(.lookup, challenge),
                problems: [.unknownClip, .attestationNotConfigured]),
            Endpoint(
                .post, "/v1/attestation/keys", .stored(.lookup, register),
                problems: [.attestationRefused, .unknownClip, .attestationNotConfigured]),
            Endpoint(
                .post, "/v1/attestation/tokens", .stored(.lookup, token),
                problems: [.attestationRefused, .counterNotGreater, .attestationNotConfigured]),
        ]
    }

    private func configured() throws(Problem) -> AppVerifier {
        guard let verifier = control.verifier else { throw .attestationNotConfigured }
        return verifier
    }

    /// Returns a challenge. Challenges are not stored, so this needs no database.
    private func challenge(_ request: AdmittedRequest) async throws -> APIResponse {
        let (clip, purpose) = try Problem.reading(request.body) { body throws(JSONFieldError) in
            (
                try body.requiredString("clip"),
                try body.requiredCase("purpose", of: ChallengePurpose.self)
            )
        }
        let verifier = try configured()
        let bundleID = try request.clip(clip)
        let asks = request.table.attestedClip(bundleID)
        let response: JSONObject = [
            "attest": .bool(asks.map(verifier.draws) ?? false),
            "challenge": .string(
                verifier.challenge(
                    for: purpose.purpose, to: bundleID, of: request.tenant, at: request.now)),
            "expiresIn": JSONValue(AttestationChallenge.lifetime),
        ]
        return APIResponse(uncached: JSONValue.object(response).serialized())
    }

    /// Returns 201 for a new key, and 200 if the same attestation is repeated.
    ///
    /// New keys count for the address, even if the request has a token of another key, because one device can attest many keys.
    private func register(_ request: AdmittedRequest) async throws -> APIResponse {
        let (clip, keyID, challenge, attestation) = try Problem.reading(request.body) {
            body throws(JSONFieldError) in
            (
                try body.requiredString("clip"), try body.requiredKeyID("keyID"),
                try body.requiredString("challenge"),
                try body.requiredBytes("attestation", upTo: Self.maximumAttestationLength)
            )
        }
        let verifier = try configured()
        guard let clip = request.table.attestedClip(try request.clip(clip)) else {
            throw Problem.attestationRefused
        }
        let address = Client.Identity.address(request.client.address)
        if let full = limiter.admit(request.caller, from: address) { throw full }
        var isNew = false
        defer { if !isNew { limiter.giveBack(request.caller, from: address) } }
        let registered = try await counting(.attest) {
            try await verifier.register(
                keyID: keyID, challenge: challenge, attestation: attestation, of: clip,
                in: request.table, at: request.now)
        }
        isNew = registered.isNew
        return Self.response(isNew ? .created : .ok, registered.token)
    }

    private func token(_ request: AdmittedRequest) async throws -> APIResponse {
        let (keyID, challenge, assertion) = try Problem.reading(request.body) { body throws(JSONFieldError) in
            (
                try body.requiredKeyID("keyID"), try body.requiredString("challenge"),
                try body.requiredBytes("assertion", upTo: Self.maximumAssertionLength)
            )
        }
        let verifier = try configured()
        let token = try await counting(.token) {
            try await verifier.token(
                keyID: keyID, challenge: challenge, assertion: assertion, in: request.table,
                at: request.now)
        }
        return Self.response(.ok, token)
    }

    private func counting<Result>(
        _ exchange: AttestationCounters.Exchange, _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body()
            control.counters.count(exchange, nil)
            return result
        } catch let refusal as AttestationRefusal {
            control.counters.count(exchange, refusal)
            throw refusal == .counter(.notGreater) ? Problem.counterNotGreater : .attestationRefused
        }
    }

    private static func response(_ status: HTTPResponse.Status, _ token: String) -> APIResponse {
        let response: JSONObject = [
            "expiresIn": JSONValue(AttestationToken.lifetime), "token": .string(token),
        ]
        return APIResponse(status, uncached: JSONValue.object(response).serialized())
    }

    /// The most bytes that the verifiers accept.
    private static let maximumAttestationLength = 16_384
    private static let maximumAssertionLength = 4_096
}

/// The purpose of a challenge, by its name in requests.
private enum ChallengePurpose: String, CaseIterable {
    case attestation, token, request

    var purpose: AttestationChallenge.Purpose {
        switch self {
        case .attestation: .attestation
        case .token: .token
        case .request: .request
        }
    }
}

extension AdmittedRequest {
    /// The tenant's clip with this bundle ID.
    fileprivate func clip(_ name: String) throws(Problem) -> BundleID {
        guard let clip = try? BundleID(name), table.hasClip(clip) else {
            var problem = Problem.unknownClip
            problem.members["field"] = "clip"
            throw problem
        }
        return clip
    }
}

extension Problem {
    /// Reads all members of a body.
    fileprivate static func reading<Result>(
        _ body: JSONObject, _ read: (inout JSONObjectReader) throws(JSONFieldError) -> Result
    ) throws(Problem) -> Result {
        do throws(JSONFieldError) {
            var reader = JSONObjectReader(body)
            let result = try read(&reader)
            try reader.finish()
            return result
        } catch {
            throw Problem(error)
        }
    }
}

extension JSONObjectReader {
    /// Reads base64 (RFC 4648 §4), the form of Foundation and of the IDs from `generateKey`.
    fileprivate mutating func requiredBytes(
        _ key: String, upTo maximum: Int
    ) throws(JSONFieldError) -> [UInt8] {
        let text = try requiredString(key)
        guard text.utf8.count <= (maximum + 2) / 3 * 4, let bytes = Data(base64Encoded: text), !bytes.isEmpty
        else {
            throw .invalid(path: path(of: key), reason: "must be 1 to \(maximum) bytes in base64")
        }
        return Array(bytes)
    }

    fileprivate mutating func requiredKeyID(_ key: String) throws(JSONFieldError) -> [UInt8] {
        let bytes = try requiredBytes(key, upTo: 33)
        guard bytes.count == 32 else {
            throw .invalid(path: path(of: key), reason: "must be 32 bytes in base64")
        }
        return bytes
    }
}
