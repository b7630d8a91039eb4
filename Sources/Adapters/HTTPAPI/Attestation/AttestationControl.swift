import AppAttest
import Attestation
import Foundation
import HTTPTypes
import Lookups
import Tenancy

/// Holds requests to what the clip that they are for asks of App Attest.
///
/// Asked of publishable keys alone: a secret key is on its tenant's servers. What a tenant's clips ask for is in the routing
/// table, so that a tenant without any pays for one look there.
struct AttestationControl: Sendable {
    /// Nil for a server without a secret for challenges and tokens.
    let verifier: AppVerifier?
    let counters: AttestationCounters

    /// What a token is. In a box of its own, since most requests have none.
    indirect enum Token {
        case held(AttestationToken)
        case refused(AttestationRefusal)

        /// Of the key that it was given for; nil for one that does not hold.
        var keyID: [UInt8]? { if case .held(let token) = self { token.keyID } else { nil } }
    }

    /// What a signature is, once the store was asked.
    enum Signature {
        case signed(RequestSignature)
        case refused(AttestationRefusal)
        /// The database did not answer.
        case unavailable
    }

    /// Gives a request that has `Doorstep-Assertion` what that proves, if the clip that it is for looks at it. Waits for the
    /// database then.
    /// - Parameters:
    ///   - body: As it was sent.
    ///   - find: The clip that it is for, nil where it is for none.
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

    /// How well a request is attested that may be answered.
    /// - Parameter find: The clip that it is for, nil where it is for none; asked only where it matters.
    /// - Throws: What it is refused with that does not bring what the clip requires.
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

    /// What a request brings.
    enum Evidence {
        case attested(RequestAttestation)
        case missing
        case refused(AttestationRefusal)
        /// The database did not answer.
        case unavailable
        case notConfigured

        /// What of it holds; nil where the server cannot check it.
        var grade: RequestAttestation.Grade? {
            switch self {
            case .attested(let attestation): attestation.grade
            case .missing, .refused: RequestAttestation.Grade.none
            case .unavailable, .notConfigured: nil
            }
        }
    }

    /// A signature counts before a token, since it says more; but where the database is away a token is enough, unless a
    /// signature is asked for.
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

    /// A challenge for the next request, for a clip that signs its requests or is to.
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
    /// Whether anything is asked of it.
    var requiresAttestation: Bool { caller.kind == .publishable && table.asksForAttestations }
}

extension HTTPField.Name {
    // Ours, all three. A name in the header of an answer is a token (RFC 9110 §5.6.2), as these are.
    static let doorstepChallenge = Self(ours: "Doorstep-Challenge")
    static let doorstepAttestation = Self(ours: "Doorstep-Attestation")
    static let doorstepAssertion = Self(ours: "Doorstep-Assertion")

    private init(ours name: String) {
        guard let name = Self(name) else { preconditionFailure("no field can have this name") }
        self = name
    }
}

extension Problem {
    /// Only the metrics say what exactly is wrong, so that an attacker learns nothing.
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
