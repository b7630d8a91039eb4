public import Foundation
import Invocation
import RateLimiting
import Tenancy

/// A routing table as a file: a header, the rows of each relation in the order of `RoutingRelation.allCases`, and a
/// checksum of all before it. Rows are tuples of PostgreSQL's binary COPY format, ended by a tuple of −1 fields.
extension RoutingTable {
    /// Ends in the number of the format.
    private static let fileSignature = Array("doorstep routing table 3\n".utf8)

    /// Writes the table in pieces.
    /// - Parameter asOf: when the table was what the database said.
    public func write(asOf: Date, to output: (Span<UInt8>) throws -> Void) rethrows {
        var blocks = FileBlocks()
        blocks.bytes += Self.fileSignature
        blocks.bytes.appendBigEndian(Int64(asOf.timeIntervalSince(.year2000) * 1_000_000))
        for relation in RoutingRelation.allCases {
            try forEachRow(of: relation) { row in
                row.appendTuple(to: &blocks.bytes)
                try blocks.flush(to: output)
            }
            blocks.bytes.appendBigEndian(RoutingRow.endOfTuples)
        }
        try blocks.finish(to: output)
    }

    /// Reads what `write` wrote.
    /// - Returns: the table, and the time that it was written with.
    /// - Throws: `notARoutingTable`, `damagedFile` or `unreadableRow`.
    public static func read(_ bytes: [UInt8]) throws(RoutingError) -> (table: RoutingTable, asOf: Date) {
        guard bytes.starts(with: fileSignature) else { throw .notARoutingTable }
        let end = bytes.count - 8
        var position = fileSignature.count
        guard end >= position,
            bytes.bigEndianWord(at: end) == FileBlocks.checksum(bytes.span.extracting(0..<end)),
            let time = bytes.bigEndianWord(at: position).map(Int64.init(bitPattern:))
        else { throw .damagedFile }
        position += 8
        var table = RoutingTable()
        var row = RoutingRow(bytes: bytes)
        for relation in RoutingRelation.allCases {
            while try row.readTuple(at: &position, fieldCount: relation.fieldCount) {
                try table.set(relation, row)
            }
        }
        guard position == end else { throw .damagedFile }
        table.compact()
        return (table, Date(timeInterval: Double(time) / 1_000_000, since: .year2000))
    }

    /// Lends each row of a relation, with the tenant's ID first; what belongs to a tenant that is gone is left out.
    private func forEachRow(of relation: RoutingRelation, _ body: (RoutingRow) throws -> Void) rethrows {
        switch relation {
        case .tenants:
            for tenant in tenants where tenant.isPresent {
                try body(
                    RoutingRow(
                        [tenant.id.bytes, [tenant.isSuspended ? 1 : 0]] + Self.fields(tenant.limits)))
            }
        case .clips:
            for clip in clips {
                guard let tenant = presentID(clip.tenant), let owner = clip.owner else { continue }
                try body(
                    RoutingRow([
                        tenant, Array(clip.bundleID.text.utf8), [clip.isMultiBusiness ? 1 : 0],
                        Array(owner.teamID.text.utf8), Array(owner.parent.text.utf8),
                        Array(owner.appIDPrefix.text.utf8),
                    ]))
            }
        case .keys:
            for (digest, key) in keys {
                guard let tenant = presentID(key.name.tenant) else { continue }
                try body(
                    RoutingRow([
                        tenant, key.name.id.uuid.bytes, Array(key.kind.rawValue.utf8), digest.bytes,
                        key.expiresAt.map { [UInt8](bigEndian: $0) },
                        Array(key.scopes.list.map(\.rawValue).joined(separator: ",").utf8),
                    ]))
            }
        case .domains:
            for (host, domain) in domains {
                guard let tenant = presentID(domain.tenant) else { continue }
                try body(RoutingRow([tenant, Array(host.utf8), domain.content.map { Array($0.utf8) }]))
            }
        case .locations:
            try locations.forEach { header, text in
                guard let tenant = presentID(header.tenant) else { return }
                let length = Int(header.identifierLength)
                try body(
                    RoutingRow([
                        tenant, Array(copying: text.extracting(0..<length)),
                        Array(copying: text.extracting(length..<text.count)),
                        [UInt8](bigEndian: header.latitude.bitPattern),
                        [UInt8](bigEndian: header.longitude.bitPattern),
                        [UInt8](bigEndian: header.radius.bitPattern),
                    ]))
            }
        case .experiences:
            try experiences.forEach { header, text in
                guard let tenant = presentID(header.tenant) else { return }
                let length = Int(header.urlLength)
                try body(
                    RoutingRow([
                        tenant, Array(ExperienceKind(header.kind).rawValue.utf8),
                        Array(copying: text.extracting(0..<length)),
                        Array(clips[Int(header.clip)].bundleID.text.utf8),
                        header.binding == .location
                            ? Array(copying: text.extracting(length..<text.count)) : nil,
                        header.binding == .rule ? Array(rules[Int(header.rule)].description.utf8) : nil,
                    ]))
            }
        case .shortCodes:
            try shortCodes.forEach { header, text in
                guard let tenant = presentID(header.tenant) else { return }
                let length = Int(header.codeLength)
                try body(
                    RoutingRow([
                        tenant, Array(copying: text.extracting(0..<length)),
                        Array(copying: text.extracting(length..<text.count)),
                    ]))
            }
        }
    }

    private static func fields(_ limits: RequestLimits) -> [[UInt8]?] {
        [limits.key, limits.client, limits.newInstances, limits.clientNewInstances].flatMap { limit in
            [limit?.perSecond, limit?.burst].map { $0.map { [UInt8](bigEndian: Int64($0)) } }
        }
    }

    private func presentID(_ tenant: TenantIndex) -> [UInt8]? {
        let tenant = tenants[Int(tenant)]
        return tenant.isPresent ? tenant.id.bytes : nil
    }
}

/// What is to be written, in blocks of one size that the checksum is made of one after the other.
private struct FileBlocks {
    var bytes: [UInt8] = []
    private var checksum = ByteHash(seed: Self.seed)

    private static let length = 65_536
    /// Any number but 0.
    private static let seed: UInt64 = 0x646F_6F72_7374_6570

    mutating func flush(to output: (Span<UInt8>) throws -> Void) rethrows {
        let pending = bytes
        var start = 0
        while pending.count - start >= Self.length {
            let block = pending.span.extracting(start..<start + Self.length)
            checksum.combine(block)
            try output(block)
            start += Self.length
        }
        if start > 0 { bytes = Array(pending[start...]) }
    }

    mutating func finish(to output: (Span<UInt8>) throws -> Void) rethrows {
        try flush(to: output)
        var last = bytes
        checksum.combine(last.span)
        last.appendBigEndian(checksum.value)
        try output(last.span)
    }

    static func checksum(_ bytes: Span<UInt8>) -> UInt64 {
        var checksum = ByteHash(seed: seed)
        var start = 0
        while bytes.count - start >= length {
            checksum.combine(bytes.extracting(start..<start + length))
            start += length
        }
        checksum.combine(bytes.extracting(start..<bytes.count))
        return checksum.value
    }
}

extension UUID {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}

extension TenantID {
    fileprivate var bytes: [UInt8] { uuid.bytes }
}

extension RoutingTable.KeyDigest {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }
}

extension [UInt8] {
    fileprivate init(bigEndian value: some FixedWidthInteger) {
        self = []
        appendBigEndian(value)
    }
}
