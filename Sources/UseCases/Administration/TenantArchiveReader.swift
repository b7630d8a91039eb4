import Formats
import Invocation
import Tenancy

/// Reads an archive (``TenantArchive``) line by line.
///
/// If a line is invalid, it is added to the problems and reading continues, so that all errors are reported together. Archives of
/// another format or version are refused, and incomplete archives, too.
public struct TenantArchiveReader: Sendable {
    /// Returns the next bytes of the file, nil at its end.
    public typealias Source = @Sendable () throws -> [UInt8]?

    /// The errors of the lines read so far; later steps add more.
    public var problems = ImportProblems()

    private var lines: LineReader
    private var ahead: (record: ArchiveRecord, line: Int)?
    /// The type of the last record.
    private var last = "tenant"
    private var count = 0
    /// Finds duplicates of kinds with few rows. The database finds duplicates of the other kinds.
    private var bundleIDs: Set<BundleID> = []
    private var domains: Set<DomainName> = []

    public init(_ source: @escaping Source) {
        lines = LineReader(source)
    }

    /// Reads the header and the tenant itself.
    /// - Throws: `AdministrationError.invalidArchive` and `.unknownArchiveVersion`.
    public mutating func readTenant() throws -> ArchivedTenant {
        try readHeader()
        guard let line = try lines.next() else { throw refusal("the archive is incomplete") }
        count += 1
        do {
            if case .tenant(let tenant) = try Self.record(line) { return tenant }
        } catch {
            throw refusal(Self.reason(error))
        }
        throw refusal("type: the tenant must come first")
    }

    /// The next record, if the closure accepts its kind; nil if the next record has another kind.
    public mutating func next<Value>(
        _ value: (ArchiveRecord) -> Value?
    ) throws -> (value: Value, line: Int)? {
        if ahead == nil { ahead = try readRecord() }
        guard let (record, line) = ahead, let value = value(record) else { return nil }
        ahead = nil
        return (value, line)
    }

    /// Reads to the end to find all problems.
    public mutating func readRest() throws {
        ahead = nil
        while try readRecord() != nil {}
    }

    private mutating func readHeader() throws {
        guard let line = try lines.next(), let value = try? JSONValue(parsing: line),
            let header = value.objectValue, header["format"]?.stringValue == TenantArchive.format,
            let version = header["version"]?.numberValue?.int
        else {
            throw AdministrationError.invalidArchive(line: 1, reason: "not the header of a tenant's archive")
        }
        guard version == TenantArchive.version else {
            throw AdministrationError.unknownArchiveVersion(version)
        }
    }

    /// The next valid record; nil after the last line.
    private mutating func readRecord() throws -> (ArchiveRecord, Int)? {
        while last != "end" {
            guard let line = try lines.next() else { throw refusal("the archive is incomplete", after: true) }
            do {
                let record = try Self.record(line)
                try check(record)
                last = record.type
                if case .end(let expected) = record {
                    guard expected == count else {
                        throw RowRefusal("records", "must be the number of lines, \(count); got \(expected)")
                    }
                    continue
                }
                count += 1
                return (record, lines.number)
            } catch {
                if last != "end" { count += 1 }
                problems.add(line: lines.number, Self.reason(error))
            }
        }
        while try lines.next() != nil { problems.add(line: lines.number, "comes after the end") }
        return nil
    }

    private mutating func check(_ record: ArchiveRecord) throws(RowRefusal) {
        guard record.position >= TenantArchive.types.firstIndex(of: last) ?? 0, record.type != "tenant" else {
            throw RowRefusal("type", "\(record.type) comes after \(last)")
        }
        if let clip = record.clip, !bundleIDs.insert(clip.bundleID).inserted {
            throw RowRefusal("bundleID", "an earlier line has it already")
        }
        if let domain = record.domain, !domains.insert(domain.name).inserted {
            throw RowRefusal("host", "an earlier line has it already")
        }
    }

    private static func record(_ line: ArraySlice<UInt8>) throws -> ArchiveRecord {
        try ArchiveRecord(JSONObjectReader.object(of: JSONValue(parsing: line)))
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as JSONFieldError where !error.path.isEmpty: "\(error.path): \(error.reason)"
        case let error as RowRefusal: error.reason
        default: "\(error)"
        }
    }

    private func refusal(_ reason: String, after: Bool = false) -> AdministrationError {
        .invalidArchive(line: max(1, lines.number + (after ? 1 : 0)), reason: reason)
    }
}

extension JSONObjectReader {
    fileprivate static func object(of value: JSONValue) throws(JSONFieldError) -> JSONObject {
        guard let object = value.objectValue else { throw .wrongType(path: "", expected: "an object") }
        return object
    }
}
