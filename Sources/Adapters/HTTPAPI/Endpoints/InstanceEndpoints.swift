import APNsPayload
import AppAttest
import Confirmations
import Formats
import Foundation
import HTTPTypes
import Invocation
import Lookups
import Notifications
import Receipts
import Tenancy

/// The endpoints with which clips register launches, push tokens and Live Activities.
struct InstanceEndpoints: Sendable {
    private let registrar: InstanceRegistrar?
    private let receipts: ReceiptIssuer?
    private let limiter: RequestLimiter
    private let attestation: AttestationControl

    /// - Parameter registrar: Nil if push tokens cannot be sealed. Then every endpoint returns `notifications_not_configured`.
    init(
        _ registrar: InstanceRegistrar?, _ responses: APIResponses, _ limiter: RequestLimiter,
        _ attestation: AttestationControl
    ) {
        self.registrar = registrar
        self.attestation = attestation
        self.limiter = limiter
        receipts = responses.receipts
    }

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .put, "/v1/instances/{id}", .stored(.register, register),
                problems: .attested + [
                    .invalidURL, .doesNotMatch, .unknownClip, .otherClip, .unknownInstance, .invalidReceipt,
                    .instanceOfOtherKey, .tooManyInstances, .quotaExceeded, .notificationsNotConfigured,
                ]),
            Endpoint(
                .get, "/v1/instances/{id}", .storedWithin(.notify, instance),
                problems: [.notFound, .notificationsNotConfigured]),
            Endpoint(
                .delete, "/v1/instances/{id}", .stored(.register, delete),
                problems: .attested + [.notFound, .instanceOfOtherKey, .notificationsNotConfigured]),
            Endpoint(
                .put, "/v1/instances/{id}/activities/{activity}", .stored(.register, setActivity),
                problems: .attested + [
                    .invalidURL, .notFound, .instanceOfOtherKey, .notificationsNotConfigured,
                ]),
            Endpoint(
                .delete, "/v1/instances/{id}/activities/{activity}", .stored(.register, deleteActivity),
                problems: .attested + [.unknownActivity, .instanceOfOtherKey, .notificationsNotConfigured]),
        ]
    }

    private func configured() throws(Problem) -> InstanceRegistrar {
        guard let registrar else { throw .notificationsNotConfigured }
        return registrar
    }

    /// The attested key of a request about an instance.
    private struct Attested {
        /// The key's ID; nil without an attestation.
        var key: [UInt8]?
        /// Whether a clip requires a key. Then an instance belongs to the key that registered it first.
        var isRequired = false
        var owner: InstanceOwner?
    }

    /// Refuses a request without the attestation that a clip requires. Both the registered clip of the instance and the clip in the
    /// request count.
    private func attested(
        _ request: AdmittedRequest, for id: InstanceID, naming clip: BundleID? = nil
    ) async throws -> Attested {
        // Reading the owner takes a transaction, so only tenants that use attestations do it.
        guard request.requiresAttestation, request.table.asksForAttestations else { return Attested() }
        let owner = try await configured().owner(of: id, of: request.tenant)
        var attested = Attested(owner: owner)
        for clip in Set([clip, owner?.clip].compactMap(\.self)) {
            let found = try attestation.attestation(of: request, for: .register) { clip }
            attested.key = found.keyID ?? attested.key
            attested.isRequired =
                attested.isRequired || request.table.attestedClip(clip)?.attestation.register == .require
        }
        return attested
    }

    /// Refuses a request about an existing instance without the attestation that its clip requires, or with another key.
    private func requireAttestation(of request: AdmittedRequest, for id: InstanceID) async throws {
        let attested = try await attested(request, for: id)
        if attested.isRequired, let own = attested.owner?.attestKey, own != attested.key {
            throw Problem(RegistrationRefusal.otherKey)
        }
    }

    // MARK: Instances

    /// Returns 201 for a new instance, and otherwise 200 (RFC 9110 §9.3.4).
    private func register(_ request: AdmittedRequest) async throws -> APIResponse {
        let registrar = try configured()
        guard let id = InstanceID(text: request.parameter("id")) else {
            throw Problem.field("id", code: "invalid_field", "the instance's ID must be a UUID")
        }
        let (report, receipt) = try LaunchReport.read(request.body, of: id)
        let launched = report.url.flatMap { request.table.match($0)?.experience.clip }
        let attested = try await attested(request, for: id, naming: launched ?? report.clip)
        let proof = try receipt.map { receipt throws(Problem) in
            try prove(receipt, to: request.tenant, at: request.now)
        }
        // Only the store knows whether the instance is new. The limits do not apply to known instances.
        let client = attested.key.map { Client.Identity.installation($0) } ?? .address(request.client.address)
        let full = limiter.newInstances.admit(request.caller, from: client)
        var isNew = false
        defer {
            if full == nil, !isNew { limiter.newInstances.giveBack(request.caller, from: client) }
        }
        switch try await registrar.register(
            report, proof: proof, mayBeNew: full == nil, by: attested.key,
            isHeldToKey: attested.isRequired, in: request.table, at: request.now)
        {
        case .registered(let instance, let isAdded, _, let despite):
            isNew = isAdded
            count(despite, of: attested)
            return APIResponse(isNew ? .created : .ok, uncached: JSONValue.object(instance.json).serialized())
        case .refused(let refusal):
            count(refusal, of: attested)
            if refusal == .newNotAdmitted, let full { throw full }
            throw Problem(refusal)
        }
    }

    /// Counts a report of an attested key, with its refusal if it was refused.
    private func count(_ refusal: RegistrationRefusal?, of attested: Attested) {
        guard attested.key != nil else { return }
        switch refusal {
        case nil: attestation.counters.count(bindingOf: .verified)
        case .otherKey: attestation.counters.count(bindingOf: .otherKey)
        case .tooManyOfKey: attestation.counters.count(bindingOf: .tooManyInstances)
        default: break
        }
    }

    private func prove(
        _ receipt: String, to tenant: TenantID, at now: Date
    ) throws(Problem) -> Receipt {
        do throws(ReceiptDefect) {
            guard let receipts else { throw .noKeys }
            return try receipts.verify(receipt, for: tenant, at: now)
        } catch {
            throw .invalidReceipt(error.rawValue, "\(error)")
        }
    }

    private func instance(
        _ request: AdmittedRequest, within locations: Set<LocationIdentifier>?
    ) async throws -> APIResponse {
        let registrar = try configured()
        guard let id = InstanceID(text: request.parameter("id")),
            let instance = try await registrar.instance(id, of: request.tenant, within: locations)
        else { throw Problem.unknownInstance }
        return APIResponse(uncached: JSONValue.object(instance.json).serialized())
    }

    private func delete(_ request: AdmittedRequest) async throws -> APIResponse {
        let registrar = try configured()
        guard let id = InstanceID(text: request.parameter("id")) else { throw Problem.unknownInstance }
        try await requireAttestation(of: request, for: id)
        guard try await registrar.delete(id, of: request.tenant) else { throw Problem.unknownInstance }
        return APIResponse(.noContent)
    }

    // MARK: Live Activities

    private func setActivity(_ request: AdmittedRequest) async throws -> APIResponse {
        let registrar = try configured()
        let activity = request.parameter("activity")
        guard Self.isActivityID(activity) else {
            throw Problem.field(
                "activity", code: "invalid_field",
                "the activity's ID must be 1 to 128 letters, digits, '-', '_', '.' and '~'")
        }
        let token: PushToken
        do throws(JSONFieldError) {
            var body = JSONObjectReader(request.body)
            token = try body.requiredToken("token")
            try body.finish()
        } catch {
            throw Problem(error)
        }
        guard let id = InstanceID(text: request.parameter("id")) else { throw Problem.unknownInstance }
        try await requireAttestation(of: request, for: id)
        guard
            try await registrar.setToken(
                token, ofActivity: activity, for: id, of: request.tenant, at: request.now)
        else { throw Problem.unknownInstance }
        return APIResponse(.noContent)
    }

    private func deleteActivity(_ request: AdmittedRequest) async throws -> APIResponse {
        let registrar = try configured()
        let activity = request.parameter("activity")
        guard let id = InstanceID(text: request.parameter("id")), Self.isActivityID(activity) else {
            throw Problem.unknownActivity
        }
        try await requireAttestation(of: request, for: id)
        guard try await registrar.removeActivity(activity, for: id, of: request.tenant) else {
            throw Problem.unknownActivity
        }
        return APIResponse(.noContent)
    }

    /// Whether the text needs no percent-encoding in a path (RFC 3986 §2.3). ActivityKit's IDs are UUIDs.
    private static func isActivityID(_ text: String) -> Bool {
        TokenKind.isName(text)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_.~".utf8.contains(byte)
                }
            }
    }
}

// MARK: - Requests

extension InstanceID {
    /// Reads a UUID in upper or lower case; nil for other texts.
    init?(text: String) {
        guard let uuid = UUID(text: text) else { return nil }
        self.init(uuid)
    }
}

extension LaunchReport {
    /// Reads a body's report and receipt.
    fileprivate static func read(
        _ body: JSONObject, of instance: InstanceID
    ) throws(Problem) -> (LaunchReport, receipt: String?) {
        let url: String?
        let clip: String?
        let launch: (InvocationURL?, BundleID?) -> LaunchReport
        let receipt: String?
        do throws(JSONFieldError) {
            var body = JSONObjectReader(body)
            url = try body.optionalString("url")
            clip = try body.optionalString("clip")
            let app = try body.optionalCase("app", of: InstalledApp.self) ?? .clip
            let environment = try body.requiredCase("environment", of: APNsEnvironment.self)
            let permission = try body.requiredCase("permission", of: NotificationPermission.self)
            let token = try body.optionalToken("token")
            let startTokens = try body.optionalStartTokens("startTokens")
            let launchedAt = try body.optionalDate("launchedAt")
            let source = try body.optionalCase("source", of: InvocationSource.self) ?? .unknown
            receipt = try body.optionalString("receipt")
            try body.finish()
            launch = {
                LaunchReport(
                    instance: instance, url: $0, clip: $1, app: app, environment: environment,
                    permission: permission, token: token, startTokens: startTokens, launchedAt: launchedAt,
                    source: source)
            }
        } catch {
            throw Problem(error)
        }
        return (
            launch(
                try url.map { text throws(Problem) in try Problem.url(text) },
                try clip.map { text throws(Problem) in
                    // A text that is not a bundle ID does not name a clip.
                    guard let clip = try? BundleID(text) else {
                        throw Problem(RegistrationRefusal.unknownClip)
                    }
                    return clip
                }), receipt
        )
    }
}

extension JSONObjectReader {
    /// Reads a token's hexadecimal digits.
    fileprivate mutating func requiredToken(_ key: String) throws(JSONFieldError) -> PushToken {
        try token(try requiredString(key), at: path(of: key))
    }

    /// Reads a token's hexadecimal digits, or null from an app without a token.
    fileprivate mutating func optionalToken(_ key: String) throws(JSONFieldError) -> PushToken? {
        guard let value = optionalValue(key), value != .null else { return nil }
        guard let text = value.stringValue else {
            throw .wrongType(path: path(of: key), expected: "a string or null")
        }
        return try token(text, at: path(of: key))
    }

    fileprivate mutating func optionalStartTokens(
        _ key: String
    ) throws(JSONFieldError) -> [String: PushToken] {
        guard let members = try optionalMembers(key) else { return [:] }
        guard members.count <= Instance.maximumActivities else {
            throw .invalid(
                path: path(of: key), reason: "must have at most \(Instance.maximumActivities) members")
        }
        var tokens: [String: PushToken] = [:]
        var reader = JSONObjectReader(members, key: key, of: self)
        for (type, _) in members {
            guard TokenKind.isName(type) else {
                throw .invalid(
                    path: path(of: key), reason: "must have names of 1 to 128 characters, none of them U+0000"
                )
            }
            tokens[type] = try reader.requiredToken(type)
        }
        return tokens
    }

    private func token(_ text: String, at path: String) throws(JSONFieldError) -> PushToken {
        guard let token = PushToken(hex: text) else {
            let lengths = PushToken.lengths
            throw .invalid(
                path: path,
                reason: "must be \(lengths.lowerBound) to \(lengths.upperBound) bytes in hexadecimal digits")
        }
        return token
    }
}

extension Problem {
    fileprivate static let unknownInstance = Problem(
        .notFound, "not_found", "no instance has this ID")
    fileprivate static let unknownActivity = Problem(
        .notFound, "unknown_activity", "no Live Activity has this ID")

    fileprivate static func invalidReceipt(_ reason: String, _ detail: String) -> Problem {
        Problem(
            .unprocessableContent, "invalid_receipt", detail,
            members: ["field": "receipt", "reason": .string(reason)])
    }

    fileprivate init(_ refusal: RegistrationRefusal) {
        switch refusal {
        case .doesNotMatch: self.init(.notFound, "does_not_match", "\(refusal)")
        case .unknownInstance:
            self.init(.unprocessableContent, "unknown_instance", "\(refusal)", members: ["field": "clip"])
        case .unknownClip:
            self = .unknownClip
            members["field"] = "clip"
        case .otherClip:
            self.init(.unprocessableContent, "other_clip", "\(refusal)", members: ["field": "clip"])
        case .otherKey: self.init(.conflict, "instance_of_other_key", "\(refusal)")
        case .tooManyOfKey: self.init(.conflict, "too_many_instances", "\(refusal)")
        case .newNotAdmitted: self.init(.tooManyRequests, "rate_limited", "\(refusal)")
        case .proof(let defect): self = .invalidReceipt(defect.rawValue, "\(refusal)")
        }
    }
}
