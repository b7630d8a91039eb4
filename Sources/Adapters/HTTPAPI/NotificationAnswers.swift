import APNsPayload
import Crypto
import Encodings
public import Foundation
import HTTPTypes
import Invocation
public import JSON
public import Metrics
public import Notifications
public import Routing
public import Tenancy

/// What the API answers about notifications, as JSON in UTF-8, apart from HTTP: the routes send it, and the commands print
/// it.
public struct NotificationAnswers: Sendable {
    private let intake: NotificationIntake
    private let store: any NotificationStore
    private let counters: DecisionCounters

    /// - Parameters:
    ///   - metrics: Where decisions are counted.
    ///   - onQueued: Called when there is something to be sent.
    ///   - onIncomplete: Called when a part of an audience is left to be taken in.
    public init(
        _ store: any NotificationStore, metrics: any MetricsFactory = MetricsSystem.factory,
        onQueued: @escaping @Sendable () -> Void = {},
        onIncomplete: @escaping @Sendable () -> Void = {}
    ) {
        intake = NotificationIntake(store, onQueued: onQueued, onIncomplete: onIncomplete)
        self.store = store
        counters = DecisionCounters(metrics)
    }

    /// Counts what was decided in a part of an audience that followed the answer.
    public func count(_ part: AudiencePart) {
        counters.count(part.counts)
    }

    /// An answer to `POST /v1/notifications`.
    public struct Sent: Sendable {
        public let id: NotificationID
        public let body: [UInt8]
        /// Whether the same request was answered before.
        public let isRepeated: Bool
    }

    /// `POST /v1/notifications`: sends a notification, and says to whom.
    /// - Throws: A ``Problem``, or `NotificationStoreError.unavailable`.
    public func send(
        _ body: JSONObject, idempotencyKey: String? = nil, in table: TenantTable, at now: Date
    ) async throws -> Sent {
        let key = try idempotencyKey.map { text throws(Problem) in
            guard let key = IdempotencyKey(text, digest: Self.digest(of: body, table.tenant)) else {
                throw .field(
                    "Idempotency-Key", code: "invalid_idempotency_key",
                    "the key must be 1 to 255 characters of printable ASCII")
            }
            return key
        }
        let submission = try NotificationSubmission(body, idempotencyKey: key)
        switch try await intake.accept(submission, in: table, at: now) {
        case .accepted(let trace):
            counters.count(trace.counts)
            return Sent(
                id: trace.notification.id, body: JSONValue(answered: trace).serialized(), isRepeated: false)
        case .repeated(let trace):
            return Sent(
                id: trace.notification.id, body: JSONValue(answered: trace).serialized(), isRepeated: true)
        case .refused(let refusal):
            throw Problem(refusal)
        }
    }

    /// Of the tenant and of all that the request says, however it was written.
    private static func digest(of body: JSONObject, _ tenant: TenantID) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: Array(tenant.description.utf8))
        hash.update(data: JSONValue.object(body).serialized())
        return Array(hash.finalize())
    }

    /// `GET /v1/notifications/{id}`: a notification with what has become of it.
    /// - Parameters:
    ///   - last: The ID of the last delivery of the page before.
    ///   - limit: How many deliveries, in digits.
    /// - Throws: A ``Problem``, or `NotificationStoreError.unavailable`.
    public func trace(
        _ id: String, after last: String? = nil, limit: String? = nil, of tenant: TenantID
    ) async throws -> [UInt8] {
        let last = try last.map { text throws(Problem) in
            guard let uuid = UUID(text: text) else {
                throw .field("after", code: "invalid_parameter", "the parameter must be a delivery's ID")
            }
            return DeliveryID(uuid)
        }
        let limit = try limit.map { text throws(Problem) in
            guard let limit = Int(text), Self.pageLengths.contains(limit) else {
                throw .field(
                    "limit", code: "invalid_parameter", "the parameter must be a number from 1 to 1000")
            }
            return limit
        }
        guard let uuid = UUID(text: id),
            let trace = try await store.trace(
                NotificationID(uuid), of: tenant, after: last, limit: limit ?? Self.pageLength)
        else {
            throw Problem(.notFound, "unknown_notification", "there is no notification of this ID")
        }
        return JSONValue(trace).serialized()
    }

    private static let pageLengths = 1...1_000
    private static let pageLength = 100
}

// MARK: - Requests

extension NotificationSubmission {
    fileprivate init(_ body: JSONObject, idempotencyKey: IdempotencyKey?) throws(Problem) {
        let (request, rest) = try NotificationRequest.read(body) { body throws(JSONFieldError) in
            var object = try body.requiredObject("audience")
            let audience = try Audience(&object)
            try object.finish()
            return (
                audience: audience, confirmedOnly: try body.optionalBool("confirmedOnly") ?? false,
                environment: try body.optionalCase("environment", of: APNsEnvironment.self)
            )
        }
        self.init(
            request, to: rest.audience, confirmedOnly: rest.confirmedOnly, environment: rest.environment,
            idempotencyKey: idempotencyKey)
    }
}

extension Problem {
    fileprivate init(_ refusal: IntakeRefusal) {
        var members = JSONObject()
        switch refusal {
        case .composition(let refusal):
            self.init(refusal)
            return
        case .wrongAudience, .unknownChannel: members["field"] = "audience"
        case .idempotencyKeyReused: members["field"] = "Idempotency-Key"
        }
        self.init(.unprocessableContent, refusal.code, refusal.description, members: members)
    }
}

// MARK: - Answers

extension JSONValue {
    /// As it is answered when it is made.
    fileprivate init(answered trace: NotificationTrace) {
        var object = JSONObject(trace.notification)
        let target = trace.notification.target
        object["complete"] = .bool(trace.isComplete)
        object["counts"] = .object(JSONObject(trace.counts, including: [.queued, .skipped]))
        object["deliveries"] = .array(
            trace.deliveries.map { .object(JSONObject($0, defaultTarget: target)) })
        self = .object(object)
    }

    /// With all that has happened since.
    fileprivate init(_ trace: NotificationTrace) {
        var object = JSONObject(trace.notification)
        let target = trace.notification.target
        object["audience"] = .object(trace.notification.audience.json)
        object["complete"] = .bool(trace.isComplete)
        object["counts"] = .object(JSONObject(trace.counts))
        object["deliveries"] = .array(
            trace.deliveries.map { delivery in
                var object = JSONObject(delivery, defaultTarget: target)
                object["environment"] = .string(delivery.environment.rawValue)
                object["receiver"] = [
                    "kind": .string(delivery.receiver.kind), "name": .string(delivery.receiver.name),
                ]
                object["attempts"] = JSONValue(delivery.attempt)
                object["dueAt"] = delivery.dueAt.map { .string($0.rfc3339WithMilliseconds) } ?? .null
                object["finishedAt"] =
                    delivery.finishedAt.map { .string($0.rfc3339WithMilliseconds) } ?? .null
                object["answers"] = .array(delivery.answers.map { JSONValue($0) })
                return .object(object)
            })
        object["next"] =
            trace.hasMore ? trace.deliveries.last.map { .string($0.id.description) } ?? .null : .null
        self = .object(object)
    }

    private init(_ answer: DeliveryAnswer) {
        var object: JSONObject = [
            "attempt": JSONValue(answer.attempt), "at": .string(answer.at.rfc3339WithMilliseconds),
        ]
        switch answer.result {
        case .answered(let status, let reason, let uniqueID):
            object["status"] = JSONValue(status)
            object["reason"] = reason.map { .string($0) } ?? .null
            object["uniqueID"] = uniqueID.map { .string($0) }
        case .failed(let failure):
            object["failure"] = .string(failure)
        }
        self = .object(object)
    }
}

extension RecordedNotification {
    /// The payload's own `target-content-id`, or null.
    fileprivate var target: JSONValue {
        let aps = (try? JSONValue(parsing: payload))?.objectValue?["aps"]?.objectValue
        return aps?["target-content-id"] ?? .null
    }
}

extension JSONObject {
    fileprivate init(_ notification: RecordedNotification) {
        var headers = JSONObject()
        for field in notification.headers.fields { headers[field.name] = .string(field.value) }
        self = [
            "id": .string(notification.id.description),
            "createdAt": .string(notification.createdAt.rfc3339WithMilliseconds),
            "url": .string(notification.url),
            "experience": [
                "url": .string(notification.experienceURL),
                "kind": .string(notification.experienceKind.rawValue),
                "clip": .string(notification.clip.text),
            ],
            "headers": .object(headers),
            "payload": (try? JSONValue(parsing: notification.payload)) ?? .null,
            "warnings": .array(
                notification.warnings.map { ["code": .string($0.code), "detail": .string($0.detail)] }),
        ]
    }

    /// - Parameter defaultTarget: The target of a delivery that has none of its own.
    fileprivate init(_ delivery: RecordedDelivery, defaultTarget: JSONValue) {
        self = [
            "id": .string(delivery.id.description),
            "instance": delivery.instance.map { .string($0.description) } ?? .null,
            "state": .string(delivery.state.rawValue),
            "reason": delivery.reason.map { .string($0) } ?? .null,
            "target": delivery.target.map { .string($0) } ?? defaultTarget,
            "expiresAt": delivery.expiresAt.map { .string($0.rfc3339WithMilliseconds) } ?? .null,
            "warnings": .array(delivery.warnings.map(JSONValue.string)),
        ]
    }

    /// How many are in each state; what was skipped, by the reason.
    fileprivate init(
        _ counts: [DeliveryCount], including states: [DeliveryState] = DeliveryState.allCases
    ) {
        self = [:]
        for state in states where state != .skipped { self[state.rawValue] = 0 }
        var skipped = JSONObject()
        for count in counts {
            if count.state == .skipped {
                skipped[count.reason ?? ""] = JSONValue(count.count)
            } else {
                let before = self[count.state.rawValue]?.numberValue?.int ?? 0
                self[count.state.rawValue] = JSONValue(before + count.count)
            }
        }
        self["skipped"] = .object(skipped)
    }
}

// MARK: - Metrics

/// Counts what was decided for each instance; the counters are found once.
private struct DecisionCounters: Sendable {
    private let queued: Counter
    private let skipped: [String: Counter]

    init(_ factory: any MetricsFactory) {
        func counter(_ decision: String) -> Counter {
            Counter(label: "doorstep_notifications", dimensions: [("decision", decision)], factory: factory)
        }
        queued = counter("queued")
        skipped = Dictionary(
            uniqueKeysWithValues: SkipReason.allCases.map {
                ($0.rawValue, counter($0.rawValue))
            })
    }

    func count(_ counts: [DeliveryCount]) {
        for count in counts {
            let counter = count.state == .skipped ? skipped[count.reason ?? ""] : queued
            counter?.increment(by: count.count)
        }
    }
}
