import Administration
import AppAttest
import Attestation
import Crypto
import Foundation
import HTTPSyntax
import HTTPTypes
import JSON
import NIOCore
import Routing
import Tenancy

/// Lets requests of those in who have a key for what they ask, as often as their limits allow.
///
/// Never waits.
struct AccessControl: Sendable {
    let table: LiveRoutingTable
    let limiter: RequestLimiter
    /// Learns which keys are used.
    let usage: any KeyUsageRecorder
    /// Tells installations by their tokens; nil where there are none.
    let verifier: AppVerifier?

    /// - Parameters:
    ///   - scope: The scope that the endpoint requires; nil for any secret key.
    ///   - route: What is to answer it.
    func admit(
        _ request: APIRequest, for scope: Scope?, by route: Route, at now: Date
    ) throws(Problem) -> AdmittedRequest {
        guard let state = table.current else { throw .unavailable }
        guard let caller = request.key?.digest.flatMap({ Self.holder($0, in: state, at: now) }) else {
            try limiter.admitStranger(from: request.client)
            throw .unauthorized
        }
        usage.record(caller.key, of: caller.tenant, at: now)
        var standing = RequestStanding()
        let token = request.fields.attestation.flatMap { self.token($0, of: caller, in: state, at: now) }
        do throws(Problem) {
            standing = try limiter.admit(caller, from: request.client, by: token?.keyID)
            guard !caller.tenantIsSuspended else { throw .tenantSuspended }
            if let scope {
                guard caller.scopes.contains(scope) else { throw .keyLacks(scope) }
            } else if caller.kind != .secret {
                throw .keyIsNotSecret
            }
            guard caller.locations == nil || route.admitsRestrictedKeys else { throw .keyIsRestricted }
            guard request.fields.idempotencyKeys.isEmpty || route.idempotency != .refused else {
                throw .idempotencyKeyNotSupported
            }
            if !route.bodyTypes.isEmpty { try request.fields.checkBody(of: route) }
        } catch {
            throw error.of(caller, standing)
        }
        return AdmittedRequest(
            request, of: caller, in: state.table(of: caller.tenant).restricted(to: caller.locations),
            standing, attestedBy: token, at: now)
    }

    /// Counts a response that has cost more than one lookup against the limits of its caller.
    func charging(_ answer: consuming Answer, to request: AdmittedRequest) -> Answer {
        guard answer.lookups > 1 else { return answer }
        answer.standing = limiter.charge(
            answer.lookups - 1, to: request.caller, from: request.client, by: request.token?.keyID)
        return answer
    }

    /// What a request brings in `Doorstep-Attestation`; nil where nobody asks for it.
    private func token(
        _ text: String, of caller: KeyHolder, in state: LiveRoutingTable.State, at now: Date
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
        _ digest: SHA256.Digest, in table: LiveRoutingTable.State, at now: Date
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
    func checkBody(of route: Route) throws(Problem) {
        let length = contentLength.flatMap { Int($0) }
        // Whether there is one is known when it has been read.
        if route.isBodyOptional, length ?? 0 == 0 { return }
        try checkType(of: route)
        _ = try ContentCoding(contentEncoding)
        if let length, let type = bodyType(among: route.bodyTypes), length > type.maximumLength {
            throw .bodyTooLarge(type)
        }
    }

    /// - Throws: `unsupported_media_type`.
    func checkType(of route: Route) throws(Problem) {
        guard bodyType(among: route.bodyTypes) != nil else { throw .unsupportedMediaType(route.bodyTypes) }
    }

    /// What the body is announced as; nil where it is none of these.
    func bodyType(among types: [BodyType]) -> BodyType? {
        guard let contentType else { return nil }
        let field = contentType.utf8.span
        for type in types where field.isMediaType(type.name) { return type }
        return nil
    }
}

extension AdmittedRequest {
    /// The answer, with how the caller stands to its limits.
    func answered(by answer: consuming Answer) -> Answer {
        answer.standing = standing
        return answer
    }

    /// The same of a refusal.
    func refused(by problem: Problem) -> Problem { problem.of(caller, standing) }
}

extension Problem {
    /// Otherwise a client that relies on the field would repeat a change by accident.
    fileprivate static let idempotencyKeyNotSupported = Problem(
        .badRequest, "idempotency_key_not_supported", "this endpoint does not support Idempotency-Key",
        members: ["field": "Idempotency-Key"])

    fileprivate func of(_ caller: KeyHolder, _ standing: RequestStanding) -> Problem {
        var problem = self
        problem.caller = caller
        // A limit that was reached has told its own.
        if problem.standing == RequestStanding() { problem.standing = standing }
        return problem
    }
}
