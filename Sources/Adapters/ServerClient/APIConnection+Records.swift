public import Administration
public import Formats
public import Foundation
import Invocation
import Lookups
import NIOHTTP1
public import Notifications
import Tenancy

extension APIConnection {
    /// Changes to the tenant's data, the newest first, from before one on, up to `limit`.
    public func auditEntries(
        before: Int?, limit: Int, where filter: [(String, String)]
    ) async throws -> [AuditEntry] {
        try await list("/v1/audit-log", after: before.map(String.init), limit: limit, where: filter).map {
            try Self.reading($0) { try AuditEntry(&$0) }
        }
    }

    /// Makes the server look for the proof of a domain.
    public func verifyDomain(_ name: DomainName) async throws -> DomainVerification.Outcome {
        guard let path = DomainRecord.path(of: name) else { throw DomainRecord.unknown(name) }
        let reply = try await ask(.POST, path + "/verify", body: [:])
        // If the server's lookups do not use a change yet, the response has no domain.
        let isVisible = reply.json["visible"] != .bool(false)
        let json = isVisible ? reply.json : try await read(path)
        return DomainVerification.Outcome(
            tenant: Self.tenantOfKey,
            record: try Self.reading(json) { _ in try DomainRecord.served(json, as: name) },
            isVisible: isVisible,
            lack: json["detail"]?.stringValue.map {
                .init(isUnanswered: json["answered"] == .bool(false), reason: $0)
            })
    }

    /// A placeholder for the tenant's ID: the server uses the tenant of the key.
    private static let tenantOfKey = TenantID(
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))

    /// Makes the server look again for the proofs of all proved domains. Domains that are deleted meanwhile are left out.
    public func verifyDomains() async throws -> [DomainVerification.Outcome] {
        var outcomes: [DomainVerification.Outcome] = []
        let domains = try await APIItems<DomainRecord>(self).list()
        for domain in domains where domain.proof != nil {
            do {
                outcomes.append(try await verifyDomain(domain.name))
            } catch ServerError.refused(let problem) where problem.code == "unknown_domain" {
                continue
            }
        }
        return outcomes
    }

    /// Deletes an instance.
    /// - Returns: Whether there was one.
    public func deleteInstance(_ id: InstanceID) async throws -> Bool {
        let reply = try await ask(.DELETE, "/v1/instances/\(id)", problems: ["not_found"])
        return reply.problem == nil
    }

    /// A notification with its deliveries, or with the delivery that has the ID; nil if the tenant has no such notification or
    /// delivery.
    public func trace(
        _ id: UUID, after last: DeliveryID?, limit: Int
    ) async throws -> JSONObject? {
        let id = id.uuidString.lowercased()
        if let trace = try await trace(of: id, after: last, limit: limit) { return trace }
        let delivery = try await ask(.GET, "/v1/deliveries/\(id)", problems: ["unknown_delivery"])
        guard delivery.problem == nil else { return nil }
        let (notification, own) = try delivery.reading { fields in
            (try fields.requiredString("notification"), try fields.requiredString("id"))
        }
        guard let owner = UUID(uuidString: notification), let own = UUID(uuidString: own) else {
            throw ServerError.unexpected(status: delivery.status)
        }
        return try await trace(
            of: owner.uuidString.lowercased(), after: DeliveryID(own).predecessor, limit: 1)
    }

    private func trace(
        of notification: String, after last: DeliveryID?, limit: Int
    ) async throws -> JSONObject? {
        let query = [("limit", "\(limit)")] + (last.map { [("after", "\($0)")] } ?? [])
        let reply = try await ask(
            .GET, "/v1/notifications/\(notification)", query, problems: ["unknown_notification"])
        return reply.problem == nil ? reply.json : nil
    }

    /// Cancels a notification.
    /// - Returns: The notification, with the numbers of its deliveries.
    public func cancelNotification(_ id: String) async throws -> JSONObject {
        try await ask(.DELETE, "/v1/notifications/\(id)").json
    }

    /// Retries deliveries, with as many requests as the server's limits need.
    public func retryDeliveries(_ selection: DeliverySelection) async throws -> RetryCounts {
        var total = RetryCounts(queued: 0, tooLate: 0)
        guard selection.ids.isEmpty else {
            for start in stride(from: 0, to: selection.ids.count, by: Self.retriedIDs) {
                let ids = selection.ids[start..<min(start + Self.retriedIDs, selection.ids.count)]
                let counts = try await retryDeliveries(["ids": .array(ids.map { .string("\($0)") })])
                total = RetryCounts(
                    queued: total.queued + counts.queued, tooLate: total.tooLate + counts.tooLate,
                    tokenDead: total.tokenDead + counts.tokenDead)
            }
            return total
        }
        // The deliveries are chosen once: one that fails again meanwhile is not retried a second time.
        let filter = [
            ("state", selection.state?.rawValue), ("reason", selection.reason),
            ("since", selection.since?.rfc3339),
        ].compactMap { name, value in value.map { (name, $0) } }
        let ids = try await list("/v1/deliveries", where: filter).map { delivery in
            let text = try Self.reading(delivery) { try $0.requiredString("id") }
            guard let id = UUID(uuidString: text) else { throw ServerError.unexpected(status: 200) }
            return DeliveryID(id)
        }
        return ids.isEmpty ? total : try await retryDeliveries(DeliverySelection(ids: ids))
    }

    /// The most IDs that one request may name.
    private static let retriedIDs = 1_000

    private func retryDeliveries(_ body: JSONObject) async throws -> RetryCounts {
        try await ask(.POST, "/v1/deliveries/retry", body: body).reading { fields in
            RetryCounts(
                queued: try fields.requiredInteger("queued"), tooLate: try fields.requiredInteger("tooLate"),
                tokenDead: try fields.requiredInteger("tokenDead"))
        }
    }

    private static func reading<Result>(
        _ json: JSONObject, _ read: (inout JSONObjectReader) throws -> Result
    ) throws(ServerError) -> Result {
        try Reply(status: 200, entityTag: nil, json: json, problem: nil).reading(read)
    }
}
