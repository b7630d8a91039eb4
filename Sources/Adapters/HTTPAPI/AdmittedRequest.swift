import Administration
import Formats
import Foundation
import HTTPTypes
import Lookups
import NIOCore
import Tenancy

/// A request with a valid key, which the endpoint's scope and the limits admit.
struct AdmittedRequest {
    let request: APIRequest
    let caller: KeyHolder
    /// The part of the tenant's table that the key may see, as of the request's admission.
    let table: TenantTable
    let standing: RequestAllowance
    var now: Date
    /// Empty if the endpoint takes no body.
    private(set) var body: JSONObject = [:]
    /// The token in `Doorstep-Attestation`; nil without the field, and if nothing requires it.
    let token: AttestationControl.Token?
    /// The signature in `Doorstep-Assertion`; nil without the field, and if nothing requires it.
    var signature: AttestationControl.Signature?

    init(
        _ request: APIRequest, of caller: KeyHolder, in table: TenantTable, _ standing: RequestAllowance,
        attestedBy token: AttestationControl.Token? = nil,
        by actor: Actor? = nil, at now: Date
    ) {
        self.request = request
        self.caller = caller
        self.actor = actor ?? .key(caller.key)
        self.table = table
        self.standing = standing
        self.token = token
        self.now = now
    }

    var tenant: TenantID { caller.tenant }
    var client: Client { request.client }
    /// The client that a publishable key's request counts for.
    var clientIdentity: Client.Identity {
        token?.keyID.map(Client.Identity.installation) ?? .address(client.address)
    }
    var query: Substring { request.query }
    /// The actor of a change in the audit log.
    let actor: Actor

    func parameter(_ name: Substring) -> String { String(request.parameters[name] ?? "") }

    mutating func read(body: ByteBuffer) throws(Problem) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: body.readableBytesView)
        } catch {
            throw Problem(.badRequest, "invalid_json", "\(error)", members: ["reason": .string(error.code)])
        }
        guard case .object(let object) = value else { throw .notAnObject }
        self.body = object
    }

    /// The value of `Idempotency-Key`; nil without the field.
    func idempotencyKey() throws(Problem) -> String? {
        guard request.fields.idempotencyKeys.count < 2 else {
            throw .field(
                "Idempotency-Key", code: "invalid_idempotency_key", "the field occurs more than once")
        }
        return request.fields.idempotencyKeys.first
    }
}

extension AdmittedRequest {
    /// The response, with the caller's remaining requests.
    func withStanding(_ response: consuming APIResponse) -> APIResponse {
        response.standing = standing
        return response
    }

    /// The problem, with the caller's remaining requests.
    func refused(by problem: Problem) -> Problem { problem.of(caller, standing) }

    func answered(
        by handler: (AdmittedRequest) throws(Problem) -> APIResponse, body: ByteBuffer?
    ) throws(Problem) -> APIResponse {
        do throws(Problem) {
            guard let body else { return withStanding(try handler(self)) }
            return withStanding(try handler(try reading(body)))
        } catch {
            throw refused(by: error)
        }
    }

    func answered(
        by handler: (AdmittedRequest) async throws -> APIResponse, body: ByteBuffer?
    ) async throws -> APIResponse {
        do {
            guard let body else { return withStanding(try await handler(self)) }
            return withStanding(try await handler(try reading(body)))
        } catch let problem as Problem {
            throw refused(by: problem)
        } catch let error as QuotaExceeded {
            throw refused(by: Problem(error))
        } catch let error as StoreUnavailable {
            throw refused(by: .unavailable(error))
        }
    }

    private func reading(_ body: ByteBuffer) throws(Problem) -> AdmittedRequest {
        var request = self
        try request.read(body: body)
        return request
    }
}
