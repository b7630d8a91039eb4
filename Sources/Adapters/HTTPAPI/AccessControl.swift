import Administration
import AppAttest
import Confirmations
import Crypto
import Formats
import Foundation
import HTTPTypes
import Lookups
import NIOCore
import Tenancy

/// Admits requests whose key has the required scope, within the rate limits.
///
/// Never waits. A class, because each request uses it: copying a structure would change the reference counts of all its members.
final class AccessControl: Sendable {
    let table: LiveLookupIndex
    let limiter: RequestLimiter
    /// Records the use of keys.
    let usage: any KeyUsageRecorder
    /// Verifies the tokens of App Attest; nil without App Attest.
    let verifier: AppVerifier?

    init(
        table: LiveLookupIndex, limiter: RequestLimiter, usage: any KeyUsageRecorder, verifier: AppVerifier?
    ) {
        self.table = table
        self.limiter = limiter
        self.usage = usage
        self.verifier = verifier
    }

    /// - Parameters:
    ///   - scope: The scope that the endpoint requires; nil for any secret key.
    ///   - endpoint: The endpoint that responds to the request.
    func admit(
        _ request: APIRequest, for scope: Scope?, by endpoint: Endpoint, at now: Date
    ) throws(Problem) -> AdmittedRequest {
        guard let state = table.current else { throw .unavailable }
        guard let caller = request.key?.digest.flatMap({ Self.holder($0, in: state, at: now) }) else {
            try limiter.admitAnonymous(from: request.client)
            throw .unauthorized
        }
        usage.record(caller.key, of: caller.tenant, at: now)
        var standing = RequestAllowance()
        let token = request.fields.attestation.flatMap { self.token($0, of: caller, in: state, at: now) }
        do throws(Problem) {
            standing = try limiter.admit(caller, from: request.client, by: token?.keyID)
            guard !caller.tenantIsSuspended else { throw .tenantSuspended }
            if let scope {
                guard caller.scopes.contains(scope) else { throw .keyLacks(scope) }
            } else if caller.kind != .secret {
                throw .keyIsNotSecret
            }
            guard caller.locations == nil || endpoint.admitsRestrictedKeys else { throw .keyIsRestricted }
            guard request.fields.idempotencyKeys.isEmpty || endpoint.idempotency != .refused else {
                throw .idempotencyKeyNotSupported
            }
            if !endpoint.bodyTypes.isEmpty { try request.fields.checkBody(of: endpoint) }
        } catch {
            throw error.of(caller, standing)
        }
        return AdmittedRequest(
            request, of: caller, in: state.table(of: caller.tenant).restricted(to: caller.locations),
            standing, attestedBy: token, at: now)
    }

    /// Counts a response that has cost more than one lookup against the limits of its caller.
    func charging(_ response: consuming APIResponse, to request: AdmittedRequest) -> APIResponse {
        guard response.lookups > 1 else { return response }
        response.standing = limiter.charge(
            response.lookups - 1, to: request.caller, from: request.client, by: request.token?.keyID)
        return response
    }

    /// The token in `Doorstep-Attestation`; nil if nothing requires it.
    private func token(
        _ text: String, of caller: KeyHolder, in state: LiveLookupIndex.State, at now: Date
    ) -> AttestationControl.Token? {
        let table = state.table(of: caller.tenant)
        guard caller.kind == .publishable, table.asksForAttestations, let verifier else { return nil }
        do throws(AttestationRefusal) {
            return .held(try verifier.token(text, in: table, at: now))
        } catch {
            return .refused(error)
        }
    }

    private static func holder(
        _ digest: SHA256.Digest, in table: LiveLookupIndex.State, at now: Date
    ) -> KeyHolder? {
        digest.withUnsafeBytes { digest in
            table.keyHolder(digest: Span(_unsafeBytes: digest), at: now)
        }
    }
}

extension RequestFields {
    /// Refuses a body by its header fields, before the body arrives.
    ///
    /// - Throws: `unsupported_media_type` or `body_too_large`.
    func checkBody(of endpoint: Endpoint) throws(Problem) {
        let length = contentLength.flatMap { Int($0) }
        // Without `Content-Length`, the server knows only after reading whether there is a body.
        if endpoint.isBodyOptional, length ?? 0 == 0 { return }
        try checkType(of: endpoint)
        _ = try ContentCoding(contentEncoding)
        if let length, let type = bodyType(among: endpoint.bodyTypes), length > type.maximumLength {
            throw .bodyTooLarge(type)
        }
    }

    /// - Throws: `unsupported_media_type`.
    func checkType(of endpoint: Endpoint) throws(Problem) {
        guard bodyType(among: endpoint.bodyTypes) != nil else {
            throw .unsupportedMediaType(endpoint.bodyTypes)
        }
    }

    /// The type of the body in `Content-Type`; nil if it is not one of `types`.
    func bodyType(among types: [BodyType]) -> BodyType? {
        guard let contentType else { return nil }
        let field = contentType.utf8.span
        for type in types where field.isMediaType(type.name) { return type }
        return nil
    }
}

extension Problem {
    /// Without this refusal, a client that relies on the field could repeat a change by accident.
    fileprivate static let idempotencyKeyNotSupported = Problem(
        .badRequest, "idempotency_key_not_supported", "this endpoint does not support Idempotency-Key",
        members: ["field": "Idempotency-Key"])

    func of(_ caller: KeyHolder, _ standing: RequestAllowance) -> Problem {
        var problem = self
        problem.caller = caller
        // The problem of a reached limit already contains the state of this limit.
        if problem.standing == RequestAllowance() { problem.standing = standing }
        return problem
    }
}
