import Confirmations
import Formats
import Foundation
import HTTPTypes
import Invocation
import Receipts
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// A history with confirmations that a test adds.
final class MemoryConfirmationHistory: ConfirmationHistory {
    private let records = Mutex<[TenantID: [RecordedConfirmation]]>([:])

    func add(_ confirmation: RecordedConfirmation, of tenant: TenantID) {
        records.withLock { $0[tenant, default: []].append(confirmation) }
    }

    func latest(
        _ selection: ConfirmationSelection, of tenant: TenantID, before last: ConfirmationCursor?, limit: Int
    ) async throws -> [RecordedConfirmation] {
        selected(selection, of: tenant).filter { confirmation in
            guard let last else { return true }
            return (confirmation.record.minute, confirmation.id.uuidString) < (
                last.minute, last.id.uuidString
            )
        }.prefix(limit).map(\.self)
    }

    func oldest(
        _ selection: ConfirmationSelection, of tenant: TenantID, after last: ConfirmationCursor?, limit: Int
    ) async throws -> [RecordedConfirmation] {
        selected(selection, of: tenant).reversed().filter { confirmation in
            guard let last else { return true }
            return (confirmation.record.minute, confirmation.id.uuidString) > (
                last.minute, last.id.uuidString
            )
        }.prefix(limit).map(\.self)
    }

    func counts(
        _ selection: ConfirmationSelection, of tenant: TenantID
    ) async throws -> [ConfirmationCounts] {
        let found = selected(selection, of: tenant)
        return found.isEmpty
            ? [] : [ConfirmationCounts(day: Date(timeIntervalSince1970: 0), counts: [.inRegion: found.count])]
    }

    /// The groups of confirmations, and the statistics that a test adds.
    func statistics(
        _ selection: ConfirmationSelection, by grouping: StatisticsGrouping, of tenant: TenantID,
        _ order: StatisticsOrder, limit: Int
    ) async throws -> [Statistics] {
        let records = selected(selection, of: tenant).map(\.record)
        let groups = Dictionary(grouping: records) { record in
            switch grouping {
            case .day: String(record.minute.rfc3339.prefix(10))
            case .location, .experience: record.location?.text ?? ""
            case .source: record.source.rawValue
            }
        }
        guard case .group(let last) = order else { return [] }
        return groups.map { group, records in
            Statistics(
                group: group, confirmations: records.count,
                inRegion: records.count { $0.outcome == .inRegion })
        }.sorted { $0.group < $1.group }.drop { row in last.map { row.group <= $0 } ?? false }
            .prefix(limit).map(\.self)
    }

    private func selected(
        _ selection: ConfirmationSelection, of tenant: TenantID
    ) -> [RecordedConfirmation] {
        records.withLock { $0[tenant] ?? [] }.filter { confirmation in
            let record = confirmation.record
            return record.minute >= selection.start && record.minute < selection.end
                && (selection.location == nil || selection.location == record.location)
                && selection.locations.map { $0.contains { $0 == record.location } } != false
        }.sorted { ($0.record.minute, $0.id.uuidString) > ($1.record.minute, $1.id.uuidString) }
    }
}

@Suite struct ConfirmationHistoryEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = ["listConfirmations", "summarizeConfirmations"]

    /// Spaces as `URLSearchParams`, `urllib` and `curl --data-urlencode` encode them.
    @Test(arguments: ["Store+001", "Store%20001"])
    func listFindsLocationWithSpaceInIdentifier(location: String) async throws {
        let api = TestAPI()
        api.confirmations.add(
            RecordedConfirmation(
                id: UUID(number: 1),
                record: ConfirmationRecord(
                    location: try LocationIdentifier("Store 001"), outcome: .inRegion, source: .nfc,
                    minute: Date(timeIntervalSince1970: 1_772_366_400))),
            of: TenantID(number: 1))
        try await api.test { client in
            let list = try await client.send(
                .get, "/v1/confirmations?location=\(location)&from=2026-03-01", key: api.reader)
            #expect(list["data"]?.arrayValue?.count == 1, "\(list.text)")
            let summary = try await client.send(
                .get, "/v1/confirmations/summary?location=\(location)", key: api.reader)
            #expect(summary["data"]?.arrayValue?.count == 1, "\(summary.text)")
        }
    }

    @Test func confirmationsAreListedAndCountedOnlyForTheirTenant() async throws {
        let api = TestAPI()
        let (tenant, other) = (TenantID(number: 1), TenantID(number: 3))
        let neighbour = APIKey.generate(.secret)
        try api.admit(neighbour, of: other, scopes: "read")
        let start = try #require(Date(rfc3339: "2026-03-01T12:30:00Z"))
        for (number, location) in ["a", "b", "a"].enumerated() {
            api.confirmations.add(
                RecordedConfirmation(
                    id: UUID(number: UInt8(number + 1)),
                    record: ConfirmationRecord(
                        location: try LocationIdentifier(location), outcome: .inRegion, source: .nfc,
                        // The first two have the same minute. The last one is a day later.
                        minute: start + (number < 2 ? 0 : 86_400))), of: tenant)
        }
        try await api.test(over: [.task]) { client in
            func ids(_ query: String) async throws -> [String] {
                let response = try await client.send(.get, "/v1/confirmations\(query)", key: api.reader)
                return try #require(response["data"]?.arrayValue).compactMap {
                    $0.objectValue?["id"]?.stringValue.map { String($0.suffix(1)) }
                }
            }
            #expect(try await ids("") == ["3", "2", "1"])
            #expect(try await ids("?location=a") == ["3", "1"])
            #expect(try await ids("?from=2026-03-02") == ["3"])
            #expect(try await ids("?from=2026-03-01&to=2026-03-01") == ["2", "1"])
            var seen: [String] = []
            var query = "?limit=1"
            while true {
                let page = try await client.send(.get, "/v1/confirmations\(query)", key: api.reader)
                seen += try await ids(query)
                guard let next = page["next"]?.stringValue else { break }
                query = "?limit=1&after=\(next)"
            }
            #expect(seen == ["3", "2", "1"])
            #expect(try await ids("?order=newest") == ["3", "2", "1"])
            seen = []
            query = "?order=oldest&limit=1"
            while true {
                let page = try await client.send(.get, "/v1/confirmations\(query)", key: api.reader)
                seen += try await ids(query)
                guard let next = page["next"]?.stringValue else { break }
                query = "?order=oldest&limit=1&after=\(next)"
            }
            #expect(seen == ["1", "2", "3"])
            let summary = try await client.send(
                .get, "/v1/confirmations/summary?location=a", key: api.reader)
            #expect(
                summary.text == """
                    {"data":[{"day":"1970-01-01","disallowed":0,"doesNotMatch":0,"inRegion":2,"notInRegion":0,"total":2,\
                    "undetermined":0}]}
                    """)
            for (path, status, field) in [
                ("/v1/confirmations?order=id", 400, "order"),
                ("/v1/confirmations?from=1", 400, "from"), ("/v1/confirmations?to=2026-13-01", 400, "to"),
                ("/v1/confirmations?location=%00", 400, "location"),
                ("/v1/confirmations?after=AA", 400, "after"),
                ("/v1/confirmations/summary?limit=1", 400, "limit"),
            ] {
                let response = try await client.send(.get, path, key: api.reader)
                #expect(response.status == status && response.field == field, "\(path): \(response.text)")
            }
            for path in ["/v1/confirmations", "/v1/confirmations/summary"] {
                let theirs = try await client.send(.get, path, key: neighbour)
                #expect(theirs.status == 200 && theirs["data"]?.arrayValue?.isEmpty == true)
                for key in [api.publishable, api.secret, api.keyManager] {
                    #expect(try await client.send(.get, path, key: key).status == 403)
                }
            }
        }
    }
}
