import Administration
import Formats
import Foundation
import HTTPTypes
import Notifications
import Tenancy

/// The endpoints with which listeners read a tenant's events: `doorstep webhook listen`.
struct EventEndpoints: Sendable {
    /// Nil if webhooks' secrets cannot be sealed. Then every endpoint returns `notifications_not_configured`.
    let log: (any EventLog)?
    let readiness: Readiness
    private let listeners = TenantConcurrency(maximum: Self.maximumOfTenant, ofAll: Self.maximum)

    init(_ log: (any EventLog)?, _ readiness: Readiness) {
        self.log = log
        self.readiness = readiness
    }

    /// The most waiting requests of a tenant at one server. [ours]
    static let maximumOfTenant = 16
    /// The most waiting requests of all tenants at one server. [ours]
    static let maximum = 256
    /// The longest wait in seconds: shorter than the usual timeouts of proxies and connections. [ours]
    static let waits = 0...30
    private static let pageLengths = 1...100
    /// The number of events that one statement reads.
    private static let partLength = 20
    /// The size of a page in bytes. The last event may exceed it.
    private static let pageSize = 1_048_576
    /// The interval at which a waiting request reads new events from the database. [ours]
    private static let interval = Duration.seconds(1)

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .get, "/v1/events", .stored(.read, list),
                problems: .parameters + [.notificationsNotConfigured]),
            Endpoint(
                .post, "/v1/events", .stored(.manage, trigger),
                problems: .parameters + [.notificationsNotConfigured]),
        ]
    }

    /// Waits for events, without holding a connection to the database.
    private func list(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit", "wait"])
        let after = try parameters.value(
            "after", "the parameter must be 'next' of an earlier response"
        ) { EventPosition($0) }
        let limit =
            try parameters.value("limit", "the parameter must be a number from 1 to 100") { text in
                Int(text).flatMap { Self.pageLengths.contains($0) ? $0 : nil }
            } ?? Self.pageLengths.upperBound
        let wait =
            try parameters.value("wait", "the parameter must be a number from 0 to 30") { text in
                Int(text).flatMap { Self.waits.contains($0) ? $0 : nil }
            } ?? 0
        let log = try configured()
        let permit = try listeners.permit(request.tenant)
        defer { withExtendedLifetime(permit) {} }
        let deadline = ContinuousClock.now + .seconds(wait)
        let isFull = try await log.recordEvents(of: request.tenant)
        while true {
            let page = try await page(of: request.tenant, after: after, limit: limit, in: log)
            let rest = ContinuousClock.now.duration(to: deadline)
            if after == nil || !page.bodies.isEmpty || page.hasMissed || rest <= .zero {
                return Self.response(page, isFull: isFull)
            }
            guard await readiness.pause(for: min(rest, Self.interval)) else {
                return Self.response(page, isFull: isFull)
            }
        }
    }

    private func page(
        of tenant: TenantID, after: EventPosition?, limit: Int, in log: any EventLog
    ) async throws -> EventPage {
        var page = try await log.events(of: tenant, after: after, limit: min(limit, Self.partLength))
        var size = page.bodies.reduce(0) { $0 + $1.count }
        var isWhole = page.bodies.count < Self.partLength
        while !isWhole, page.bodies.count < limit, size < Self.pageSize {
            let room = min(limit - page.bodies.count, Self.partLength)
            let part = try await log.events(of: tenant, after: page.next, limit: room)
            isWhole = part.bodies.count < room
            size += part.bodies.reduce(0) { $0 + $1.count }
            page = EventPage(
                bodies: page.bodies + part.bodies, next: part.next,
                hasMissed: page.hasMissed || part.hasMissed)
        }
        return page
    }

    private static func response(_ page: EventPage, isFull: Bool) -> APIResponse {
        var bytes = Array(#"{"data":["#.utf8)
        for (index, body) in page.bodies.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += body
        }
        bytes += Array(#"],"missed":\#(page.hasMissed || isFull),"next":"\#(page.next)"}"#.utf8)
        return APIResponse(uncached: bytes)
    }

    /// Records a sample of an event for listeners.
    private func trigger(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        let log = try configured()
        do {
            var body = JSONObjectReader(request.body)
            let name = try body.requiredString("event")
            try body.finish()
            let event = try WebhookEvent(named: name, at: "event")
            let message = WebhookMessage(sampleOf: event, at: request.now)
            let isRecorded = try await log.record(message, type: event.rawValue, of: request.tenant)
            let json: JSONObject = [
                "message": .string(message.id.uuidString.lowercased()), "listening": .bool(isRecorded),
            ]
            return APIResponse(.accepted, uncached: JSONValue.object(json).serialized())
        } catch let error as JSONFieldError {
            throw Problem(error)
        }
    }

    private func configured() throws(Problem) -> any EventLog {
        guard let log else { throw .notificationsNotConfigured }
        return log
    }
}

extension WebhookEvent {
    static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// - Parameter path: The member's path, for the error.
    init(named name: String, at path: String) throws(JSONFieldError) {
        guard let event = WebhookEvent(rawValue: name) else {
            throw .invalid(path: path, reason: "must be one of \(Self.allNames)")
        }
        self = event
    }
}
