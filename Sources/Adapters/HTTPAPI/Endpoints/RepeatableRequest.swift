import Crypto
import Formats
import Foundation
import HTTPTypes
import Lookups
import NIOCore
import Notifications
import Tenancy

extension Endpoint {
    /// The same endpoint. If it stores responses, its handler looks the response to a repeated `Idempotency-Key` up in the store.
    func storingResponses(in store: any IdempotencyStore) -> Endpoint {
        guard idempotency == .storedResponse, case .stored(let scope, let handler) = handler else {
            return self
        }
        var endpoint = self
        endpoint.handler = .stored(scope) { [method] request in
            guard let text = try request.idempotencyKey() else { return try await handler(request) }
            let repeatable = try RepeatableRequest(request, method, text)
            return try await repeatable.response(from: store, or: handler)
        }
        return endpoint
    }
}

/// A request with an `Idempotency-Key`.
private struct RepeatableRequest: Sendable {
    private let request: AdmittedRequest
    private let key: IdempotencyKey

    /// The API key is part of the request, because another key must not see secrets that this one created.
    init(_ request: AdmittedRequest, _ method: HTTPRequest.Method, _ text: String) throws(Problem) {
        let content: JSONObject = [
            "apiKey": .string(request.caller.key.description), "method": .string(method.rawValue),
            "target": .string(request.request.target), "body": .object(request.body),
        ]
        guard let key = IdempotencyKey(text, for: content, of: request.tenant) else {
            throw Problem(.badRequest, RequestDefect.idempotencyKey)
        }
        self.request = request
        self.key = key
    }

    /// Performs the request unless it was performed before. A successful response is stored. After any other response, the key is
    /// free again.
    func response(
        from store: any IdempotencyStore, or handler: @Sendable (AdmittedRequest) async throws -> APIResponse
    ) async throws -> APIResponse {
        let claim: IdempotencyClaim
        switch try await store.claim(key, of: request.tenant) {
        case .claimed(let new): claim = new
        case .completed(let earlier, let response):
            guard var response = ResponseSeal(request, earlier)?.open(response) else {
                throw Problem.responseLost
            }
            response.headers[.idempotentReplayed] = "true"
            return response
        case .inUse: throw Problem.idempotencyKeyInUse
        case .reused: throw Problem(IntakeRefusal.idempotencyKeyReused)
        case .responseLost: throw Problem.responseLost
        case .tooMany: throw Problem.tooManyIdempotencyKeys
        }
        let response: APIResponse
        do {
            response = try await IdempotencyClaim.$current.withValue(claim) { try await handler(request) }
        } catch {
            // If this fails, the attempt counts as running until its lease expires.
            try? await store.release(claim)
            throw error
        }
        // If this fails, a repetition gets the problem that the response is lost.
        if let sealed = ResponseSeal(request, claim)?.seal(response) {
            try? await store.complete(claim, with: sealed)
        }
        return response
    }
}

/// Seals a response with a key that is derived from the API key of the request and from the claim.
///
/// The database has only the SHA-256 of API keys. So neither the database nor its backup reveals a secret in a response, and the
/// server needs no secret.
private struct ResponseSeal {
    private let key: SymmetricKey

    private static let purpose = Array("Doorstep idempotent response".utf8)

    init?(_ request: AdmittedRequest, _ claim: IdempotencyClaim) {
        guard let field = request.request.fields.authorization else { return nil }
        let bytes = field.utf8.span
        guard let token = bytes.bearerToken else { return nil }
        let secret = bytes.extracting(token).withUnsafeBytes { SymmetricKey(data: $0) }
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: Array(claim.id.uuidString.utf8), info: Self.purpose,
            outputByteCount: 32)
    }

    /// A line of JSON with status and header fields, followed by the body.
    func seal(_ response: APIResponse) -> [UInt8]? {
        var fields: JSONObject = [:]
        for field in response.headers { fields[field.name.rawName] = .string(field.value) }
        let head: JSONObject = ["status": JSONValue(response.status.code), "headers": .object(fields)]
        var bytes = JSONValue.object(head).serialized() + [UInt8(ascii: "\n")]
        if let body = response.body { bytes += body.buffer.readableBytesView }
        return try? AES.GCM.seal(bytes, using: key).combined.map(Array.init)
    }

    func open(_ sealed: [UInt8]) -> APIResponse? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: key),
            let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let head = try? JSONValue(parsing: bytes[..<end]).objectValue,
            let status = head["status"]?.numberValue?.int, let fields = head["headers"]?.objectValue
        else { return nil }
        var response = APIResponse(
            HTTPResponse.Status(code: status), uncached: Array(bytes[bytes.index(after: end)...]))
        for (name, value) in fields {
            guard let name = HTTPField.Name(name), let value = value.stringValue else { return nil }
            response.headers[name] = value
        }
        return response
    }
}

extension Problem {
    fileprivate static let idempotencyKeyInUse = Problem(
        .conflict, "idempotency_key_in_use",
        "a request with this Idempotency-Key is still running: send it again later",
        members: ["field": "Idempotency-Key"], headers: [.retryAfter: "2"])
    fileprivate static let responseLost = Problem(
        .conflict, "idempotency_response_lost",
        "the request with this Idempotency-Key was carried out, but its response is lost: look for what it created before you "
            + "create it again with another key", members: ["field": "Idempotency-Key"])
    fileprivate static let tooManyIdempotencyKeys = Problem(
        .conflict, "too_many_idempotency_keys",
        "the tenant has used \(IdempotencyClaim.maximumCount) idempotency keys within 24 hours",
        members: ["field": "Idempotency-Key"])
}
