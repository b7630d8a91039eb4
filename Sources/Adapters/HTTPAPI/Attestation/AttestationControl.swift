import AppAttest
import Confirmations
import Foundation
import HTTPTypes
import Lookups
import Tenancy

/// Enforces the App Attest policy of a request's clip.
///
/// The policy applies only to publishable keys, because secret keys are on the tenant's servers. Policies are in the lookup index,
/// so that a tenant without a policy pays for one check in memory.
struct AttestationControl: Sendable {
    /// Nil if the server has no secret for challenges and tokens.
    let verifier: AppVerifier?
    let counters: AttestationCounters

    /// The result of verifying a token. Indirect, because most requests have no token.
    indirect enum Token {
        case held(AttestationToken)
        case refused(AttestationRefusal)

        /// The ID of the token's key; nil if the token was refused.
        var keyID: [UInt8]? { if case .held(let token) = self { token.keyID } else { nil } }
    }

    /// The result of verifying a signature with the database.
    enum Signature {
        case signed(RequestSignature)
        case refused(AttestationRefusal)
        /// The database did not respond.
        case unavailable
    }

    /// Verifies a request's `Doorstep-Assertion` if the policy of its clip uses it. Waits for the database in this case.
    /// - Parameters:
    ///   - body: The body as received.
    ///   - find: Finds the request's clip; nil if there is none.
    func verifyingSignature(
        of request: AdmittedRequest, for operation: ClipAttestation.Operation, method: HTTPRequest.Method,
        body: [UInt8], _ find: (AdmittedRequest) -> BundleID?
    ) async throws -> AdmittedRequest {
        guard let field = request.request.fields.assertion, request.requiresAttestation, let verifier,
            let clip = find(request).flatMap(request.table.attestedClip),
            clip.attestation.demand(of: operation) != .off
        else { return request }
        var request = request
        do {
            request.signature = .signed(
                try await verifier.signature(
                    field, method: method.rawValue, target: request.request.target, body: body,
                    in: request.table, at: request.now))
        } catch let refusal as AttestationRefusal {
            request.signature = .refused(refusal)
        } catch is StoreUnavailable {
            request.signature = .unavailable
        }
        return request
    }

    /// The attestation of a request that its clip's policy admits.
    /// - Parameter find: Finds the request's clip; nil if there is none. Called only if a policy can apply.
    /// - Throws: The problem of a request without the attestation that the clip requires.
    func attestation(
        of request: AdmittedRequest, for operation: ClipAttestation.Operation, _ find: () -> BundleID?
    ) throws(Problem) -> RequestAttestation {
        guard request.requiresAttestation, let clip = find().flatMap(request.table.attestedClip) else {
            return .none
        }
        let demand = clip.attestation.demand(of: operation)
        guard demand != .off else { return .none }
        let found = evidence(of: request, for: clip, operation)
        counters.count(operation, found)
        if let grade = found.grade {
            verifier?.record(grade, of: clip.clip, for: operation, request.tenant, at: request.now)
        }
        switch found {
        case .attested(let attestation):
            guard attestation.grade == .request || !clip.attestation.requiresSignature(of: operation) else {
                throw asking(.signatureRequired, to: clip, request)
            }
            return attestation
        case _ where demand == .monitor: return .none
        case .notConfigured: throw .attestationNotConfigured
        case .unavailable: throw .unavailable
        case .missing:
            let isToSign = clip.attestation.requiresSignature(of: operation)
            throw asking(isToSign ? .signatureRequired : .attestationRequired, to: clip, request)
        case .refused(.counter(.notGreater)): throw asking(.counterNotGreater, to: clip, request)
        case .refused: throw asking(.attestationInvalid, to: clip, request)
        }
    }

    /// The evidence of App Attest in a request.
    enum Evidence {
        case attested(RequestAttestation)
        case missing
        case refused(AttestationRefusal)
        /// The database did not respond.
        case unavailable
        case notConfigured

        /// The grade of the verified evidence; nil if the server cannot verify it.
        var grade: RequestAttestation.Grade? {
            switch self {
            case .attested(let attestation): attestation.grade
            case .missing, .refused: RequestAttestation.Grade.none
            case .unavailable, .notConfigured: nil
            }
        }
    }

    /// A signature takes precedence over a token, because it proves more. If the database does not respond, a token is enough
    /// unless the policy requires a signature.
    private func evidence(
        of request: AdmittedRequest, for clip: AttestedClip, _ operation: ClipAttestation.Operation
    ) -> Evidence {
        guard verifier != nil else { return .notConfigured }
        do throws(AttestationRefusal) {
            switch request.signature {
            case .signed(let signature): return .attested(try signature.attestation(for: clip))
            case .refused(let refusal): return .refused(refusal)
            case .unavailable
            where request.token == nil || clip.attestation.requiresSignature(of: operation):
                return .unavailable
            case .unavailable, nil: break
            }
            switch request.token {
            case .held(let token): return .attested(try token.attestation(for: clip))
            case .refused(let refusal): return .refused(refusal)
            case nil: return .missing
            }
        } catch {
            return .refused(error)
        }
    }

    // MARK: Challenges

    /// A challenge for the next request, if the clip signs its requests or must sign them.
    func nextChallenge(
        to find: () -> BundleID?, after request: AdmittedRequest
    ) -> HTTPFields {
        guard request.requiresAttestation, let clip = find().flatMap(request.table.attestedClip) else {
            return [:]
        }
        return challenge(to: clip, after: request)
    }

    private func challenge(to clip: AttestedClip, after request: AdmittedRequest) -> HTTPFields {
        guard clip.attestation.confirm == .requireSigned || request.signature != nil, let verifier else {
            return [:]
        }
        return [
            .doorstepChallenge: verifier.challenge(
                for: .request, to: clip.clip, of: request.tenant, at: request.now)
        ]
    }

    private func asking(_ problem: Problem, to clip: AttestedClip, _ request: AdmittedRequest) -> Problem {
        var problem = problem
        problem.headers = challenge(to: clip, after: request)
        return problem
    }
}

extension AdmittedRequest {
    /// Whether a policy can apply to the request.
    var requiresAttestation: Bool { caller.kind == .publishable && table.asksForAttestations }
}

extension HTTPField.Name {
    // [ours] All three names are tokens (RFC 9110 §5.6.2).
    static let doorstepChallenge = Self(ours: "Doorstep-Challenge")
    static let doorstepAttestation = Self(ours: "Doorstep-Attestation")
    static let doorstepAssertion = Self(ours: "Doorstep-Assertion")

    private init(ours name: String) {
        guard let name = Self(name) else { preconditionFailure("no field can have this name") }
        self = name
    }
}

extension Problem {
    /// Only the metrics contain the exact cause, so that attackers do not learn it.
    static let attestationRequired = Problem(
        .forbidden, "attestation_required",
        "this App Clip requires attested requests: send a token as 'Doorstep-Attestation'")
    static let signatureRequired = Problem(
        .forbidden, "attestation_required",
        "this App Clip requires signed requests: send 'Doorstep-Assertion', made with the 'Doorstep-Challenge' of this response"
    )
    static let attestationInvalid = Problem(
        .forbidden, "attestation_invalid", "the token or signature of the request is not valid or has expired"
    )
    static let attestationRefused = Problem(
        .forbidden, "attestation_refused", "the attestation is not accepted")
    static let counterNotGreater = Problem(
        .conflict, "counter_not_greater",
        "this assertion or a later one of its key was used before: sign the request again, one request at a time"
    )
    static let attestationNotConfigured = Problem(
        .serviceUnavailable, "attestation_not_configured",
        "the server has no secret for challenges and tokens: set DOORSTEP_SIGNING_SECRET")
}
