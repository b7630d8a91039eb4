import AppAttest
import Confirmations
import Formats
import Foundation
import Invocation
import Platform
import Receipts
import Tenancy

/// The file of the confirmations that a server could not record before it ended. The next start records them.
///
/// Like the database, the file has no coordinates, and times in minutes. Its mode is 0600.
public struct ConfirmationSpool: Sendable {
    private let path: String

    /// A record with the ID that makes it unique in the database.
    struct Entry: Sendable, Hashable {
        let id: UUID
        let tenant: TenantID
        let record: ConfirmationRecord
    }

    /// - Parameter tableFile: The path of the table file. The file stands beside it.
    public init(besideTableFile tableFile: String) {
        path = tableFile + ".confirmations"
    }

    /// Reads the records; none if there is no file.
    /// - Throws: `PersistenceError` if the file belongs to another account, if other accounts may write it, or if it is damaged;
    ///   and errors of the file system.
    func read() throws -> [Entry] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        guard let status = FileStatus(descriptor: file.fileDescriptor), status.permissions & 0o022 == 0,
            status.owner == geteuid() || status.owner == 0
        else { throw PersistenceError.exposedFile(path) }
        let lines = try (file.readToEnd() ?? Data()).split(separator: UInt8(ascii: "\n"))
        return try PersistenceError.reading(path) { try lines.map { try Entry(JSONValue(parsing: $0)) } }
    }

    /// Replaces the file. If this fails at any point, the previous file remains.
    func write(_ entries: [Entry]) throws {
        var file = try UnfinishedFile(for: path)
        let handle = file.handle
        for entry in entries { try handle.write(contentsOf: entry.json.serialized() + Array("\n".utf8)) }
        try file.putInPlace()
    }

    /// Removes records from the file. The file is deleted if none is left: another process may have added some.
    func remove(_ ids: Set<UUID>) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        let others = try read().filter { !ids.contains($0.id) }
        if others.isEmpty {
            try FileManager.default.removeItem(atPath: path)
        } else {
            try write(others)
        }
    }

    /// Renames the file, so that a later ``write(_:)`` does not replace it.
    func setAside() throws {
        let place = path + ".unreadable"
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.moveItem(atPath: path, toPath: place)
    }
}

extension ConfirmationSpool.Entry {
    fileprivate init(_ json: JSONValue) throws {
        var fields = try JSONObjectReader(json)
        guard let id = UUID(uuidString: try fields.requiredString("id")),
            let tenant = UUID(uuidString: try fields.requiredString("tenant")),
            let minute = Date(rfc3339: try fields.requiredString("minute"))
        else { throw JSONFieldError.wrongType(path: "", expected: "a confirmation") }
        self.id = id
        self.tenant = TenantID(tenant)
        record = ConfirmationRecord(
            location: try fields.optionalString("location").map(LocationIdentifier.init),
            outcome: try fields.requiredCase("outcome", of: Confirmation.Outcome.self),
            source: try fields.requiredCase("source", of: InvocationSource.self),
            attestation: try fields.requiredCase("attestation", of: RequestAttestation.Grade.self),
            minute: minute)
        try fields.finish()
    }

    fileprivate var json: JSONValue {
        var fields: JSONObject = [
            "id": .string(id.uuidString.lowercased()), "tenant": .string(tenant.description),
            "outcome": .string(record.outcome.rawValue), "source": .string(record.source.rawValue),
            "attestation": .string(record.attestation.rawValue), "minute": .string(record.minute.rfc3339),
        ]
        if let location = record.location { fields["location"] = .string(location.text) }
        return .object(fields)
    }
}
