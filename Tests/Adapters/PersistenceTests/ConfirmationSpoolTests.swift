import AppAttest
import Confirmations
import Foundation
import Invocation
import PostgreSQL
import Receipts
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// Confirmations that wait in a file from one run of a server to the next.
@Suite(.timeLimit(.minutes(30))) struct ConfirmationSpoolTests {
    private static let minute = Date(timeIntervalSince1970: 1_800_000_000)

    /// A queue of a server without a database.
    private static func queue(_ path: String, limit: Int = 100) -> ConfirmationQueue {
        ConfirmationQueue(
            ConnectionPool(PoolConfiguration(conninfo: "host=127.0.0.1 port=1")), limit: limit,
            spool: ConfirmationSpool(besideTableFile: path))
    }

    private static func record(
        _ source: InvocationSource = .nfc, at location: String? = "a \u{1F3E0} \"b\""
    ) throws -> ConfirmationRecord {
        ConfirmationRecord(
            location: try location.map { try LocationIdentifier($0) }, outcome: .inRegion, source: source,
            attestation: .token, minute: minute)
    }

    @Test func savedRecordsAreReadWithTheirIDs() throws {
        let directory = try Folder()
        let (path, tenant) = (directory.path("table"), TenantID(UUID()))
        let queue = Self.queue(path)
        #expect(try queue.restore() == 0 && queue.save() == 0)
        for source in InvocationSource.allCases { queue.record(try Self.record(source), of: tenant) }
        queue.record(try Self.record(at: nil), of: TenantID(UUID()))
        let count = InvocationSource.allCases.count + 1
        #expect(try queue.save() == count && queue.count == count)
        let spool = ConfirmationSpool(besideTableFile: path)
        let entries = try spool.read()
        #expect(Set(entries.map(\.record.source)) == Set(InvocationSource.allCases))
        let expected = try Self.record()
        #expect(entries.contains { $0.tenant == tenant && $0.record == expected })
        #expect(entries.contains { $0.record.location == nil })
        #expect(Set(entries.map(\.id)).count == count)

        let next = Self.queue(path)
        #expect(try next.restore() == count && next.count == count)
        // Its own records are added, and those of the file keep their IDs.
        next.record(try Self.record(), of: tenant)
        #expect(try next.save() == count + 1)
        let ids = Set(try spool.read().map(\.id))
        #expect(ids.count == count + 1 && ids.isSuperset(of: entries.map(\.id)))
    }

    @Test func recordsBeyondTheLimitAreDroppedAndCounted() throws {
        let directory = try Folder()
        let path = directory.path("table")
        let (tenant, other) = (TenantID(UUID()), TenantID(UUID()))
        let queue = Self.queue(path, limit: 5)
        for _ in 0..<5 { queue.record(try Self.record(), of: tenant) }
        #expect(try queue.save() == 5)
        let next = Self.queue(path, limit: 3)
        #expect(try next.restore() == 3 && next.count == 3 && next.droppedCount == 2)
        // Another process's records remain in the file as far as there is room.
        let third = Self.queue(path, limit: 6)
        for _ in 0..<4 { third.record(try Self.record(), of: other) }
        #expect(try third.save() == 4)
        let entries = try ConfirmationSpool(besideTableFile: path).read()
        #expect(entries.filter { $0.tenant == other }.count == 4 && entries.count == 6)
    }

    @Test(arguments: [0o666, 0o620]) func exposedFileIsRenamed(mode: Int) throws {
        let directory = try Folder()
        let path = directory.path("table")
        let queue = Self.queue(path)
        queue.record(try Self.record(), of: TenantID(UUID()))
        _ = try queue.save()
        let file = path + ".confirmations"
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        let next = Self.queue(path)
        #expect(throws: PersistenceError.exposedFile(file)) { try next.restore() }
        #expect(next.count == 0 && !FileManager.default.fileExists(atPath: file))
        #expect(FileManager.default.fileExists(atPath: file + ".unreadable"))
    }

    @Test(arguments: ["{", "[]\n", "{\"id\": 1}\n", "\u{0}"]) func damagedFileIsRenamed(
        content: String
    ) throws {
        let directory = try Folder()
        let file = directory.path("table.confirmations")
        try Data(content.utf8).write(to: URL(fileURLWithPath: file))
        let queue = Self.queue(directory.path("table"))
        #expect(throws: PersistenceError.unreadable(file)) { try queue.restore() }
        #expect(queue.count == 0 && FileManager.default.fileExists(atPath: file + ".unreadable"))
    }

    /// The file of a server that stops after this one has read its file.
    @Test func recordsOfAnotherProcessStayInTheFile() async throws {
        try await Stores.withTenant { stores, tenant in
            let directory = try Folder()
            let path = directory.path("table")
            let spool = ConfirmationSpool(besideTableFile: path)
            let lost = Self.queue(path)
            lost.record(try Self.record(), of: tenant)
            #expect(try lost.save() == 1)
            let queue = ConfirmationQueue(stores.appPool, spool: spool)
            #expect(try queue.restore() == 1)
            let other = Self.queue(path)
            other.record(try Self.record(.qrCode), of: tenant)
            #expect(try other.save() == 1)
            try await queue.flush()
            #expect(try spool.read().map(\.record.source) == [.qrCode])
        }
    }

    @Test func restoredRecordsAreWrittenOnce() async throws {
        try await Stores.withTenant { stores, tenant in
            let directory = try Folder()
            let path = directory.path("table")
            let file = URL(fileURLWithPath: path + ".confirmations")
            let lost = Self.queue(path)
            for _ in 0..<3 { lost.record(try Self.record(), of: tenant) }
            #expect(try lost.save() == 3)
            let saved = try Data(contentsOf: file)
            for _ in 1...2 {
                try saved.write(to: file)
                let queue = ConfirmationQueue(
                    stores.appPool, spool: ConfirmationSpool(besideTableFile: path))
                #expect(try queue.restore() == 3)
                try await queue.flush()
                #expect(queue.count == 0 && queue.droppedCount == 0)
                #expect(!FileManager.default.fileExists(atPath: file.path))
                let count = try await stores.count("SELECT count(*) FROM doorstep.confirmations")
                #expect(count == 3)
            }
        }
    }
}

/// A folder that is deleted with its value.
private final class Folder {
    private let url = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
