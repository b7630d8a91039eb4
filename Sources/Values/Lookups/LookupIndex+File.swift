import AppAttest
import Formats
public import Foundation
import Invocation
import Tenancy

/// A lookup index as a file. It contains a header, the rows of each relation in the order of `IndexRelation.allCases`, and a
/// checksum of all bytes before the checksum. Rows are tuples of PostgreSQL's binary COPY format. A tuple of −1 fields ends each
/// relation.
extension LookupIndex {
    /// The signature ends with the number of the format and the names of the locations' texts.
    private static let fileSignature: [UInt8] = {
        let words = ["doorstep routing table 9"] + LocationColumn.texts.map { "\($0)" }
        return Array((words.joined(separator: " ") + "\n").utf8)
    }()

    /// Writes the index in pieces.
    ///
    /// - Parameter asOf: The time at which the index equalled the database.
    public func write(asOf: Date, to output: (Span<UInt8>) throws -> Void) rethrows {
        var blocks = FileBlocks()
        blocks.bytes += Self.fileSignature
        blocks.bytes.appendBigEndian(Int64(asOf.timeIntervalSince(.year2000) * 1_000_000))
        for relation in IndexRelation.allCases {
            try forEachRow(of: relation) { row in
                row.appendTuple(to: &blocks.bytes)
                try blocks.flush(to: output)
            }
            blocks.bytes.appendBigEndian(IndexRow.endOfTuples)
        }
        try blocks.finish(to: output)
    }

    /// Reads the output of `write`.
    ///
    /// - Returns: The index and its `asOf`.
    /// - Throws: `notALookupIndex`, `damagedFile` or `unreadableRow`.
    public static func read(_ bytes: [UInt8]) throws(LookupIndexError) -> (table: LookupIndex, asOf: Date) {
        guard bytes.starts(with: fileSignature) else { throw .notALookupIndex }
        let end = bytes.count - 8
        var position = fileSignature.count
        guard end >= position,
            bytes.bigEndianWord(at: end) == FileBlocks.checksum(bytes.span.extracting(0..<end)),
            let time = bytes.bigEndianWord(at: position).map(Int64.init(bitPattern:))
        else { throw .damagedFile }
        position += 8
        var table = LookupIndex()
        var row = IndexRow(bytes: bytes, fields: [])
        for relation in IndexRelation.allCases {
            let fieldCount = relation.columns.count
            while try row.readTuple(at: &position, fieldCount: fieldCount) {
                do throws(LookupIndexError) {
                    try table.set(relation, row)
                } catch .unreadableRow(.clips) {
                    // The row was unreadable in the database, too. `set` has recorded that.
                }
            }
        }
        guard position == end else { throw .damagedFile }
        table.compact()
        return (table, Date(timeInterval: Double(time) / 1_000_000, since: .year2000))
    }

    /// Passes each row of a relation to the closure, except rows of a deleted tenant.
    private func forEachRow(of relation: IndexRelation, _ body: (IndexRow) throws -> Void) rethrows {
        switch relation {
        case .tenants:
            for tenant in tenants where tenant.isPresent { try body(Self.row(tenant)) }
        case .clips: try forEachClip(body)
        case .keys: try forEachKey(body)
        case .domains: try forEachDomain(body)
        case .locations: try forEachLocation(body)
        case .experiences: try forEachExperience(body)
        case .shortCodes: try forEachShortCode(body)
        case .revokedAttestKeys: try forEachRevokedAttestKey(body)
        }
    }

    private func forEachClip(_ body: (IndexRow) throws -> Void) rethrows {
        for clip in clips {
            guard let tenant = presentID(clip.tenant) else { continue }
            guard let owner = clip.owner else {
                if clip.isUnreadable { try body(Self.unreadableRow(of: clip, tenant)) }
                continue
            }
            try body(
                IndexRow(of: ClipColumn.self) { column in
                    switch column {
                    case .tenantId: tenant
                    case .bundleId: Array(clip.bundleID.text.utf8)
                    case .multiBusiness: [clip.isMultiBusiness ? 1 : 0]
                    case .teamId: Array(owner.teamID.text.utf8)
                    case .parentBundleId: Array(owner.parent.text.utf8)
                    case .appIdPrefix: Array(owner.appIDPrefix.text.utf8)
                    case .attestation: owner.attestation.map { JSONValue.object($0.json).serialized() }
                    case .appStoreId: clip.links?.appStoreID.map { Array($0.utf8) }
                    case .androidUrl: clip.links?.androidURL.map { Array($0.utf8) }
                    case .siteName: clip.links?.siteName.map { Array($0.utf8) }
                    case .card: clip.card.json
                    case .cardImage: clip.card.imageText
                    }
                })
        }
    }

    private func forEachKey(_ body: (IndexRow) throws -> Void) rethrows {
        for (digest, key) in keys {
            guard let tenant = presentID(key.name.tenant) else { continue }
            try body(
                IndexRow(of: KeyColumn.self) { column in
                    switch column {
                    case .tenantId: tenant
                    case .keyId: key.name.id.uuid.bytes
                    case .kind: Array(key.kind.rawValue.utf8)
                    case .digest: digest.bytes
                    case .expiresAt: key.expiresAt.map { [UInt8](bigEndian: $0) }
                    case .scopes: Array(key.scopes.list.map(\.rawValue).joined(separator: ",").utf8)
                    case .locations:
                        key.locations.map { Array($0.map(\.text).sorted().joined(separator: "\n").utf8) }
                    }
                })
        }
    }

    private func forEachDomain(_ body: (IndexRow) throws -> Void) rethrows {
        for (host, domain) in domains {
            guard let tenant = presentID(domain.tenant) else { continue }
            try body(
                IndexRow(of: DomainColumn.self) { column in
                    switch column {
                    case .tenantId: tenant
                    case .host: Array(host.utf8)
                    case .content: domain.content.map { Array($0.utf8) }
                    case .pages: Array(domain.pages.rawValue.utf8)
                    }
                })
        }
    }

    private func forEachLocation(_ body: (IndexRow) throws -> Void) rethrows {
        try locations.forEach { header, text in
            guard let tenant = presentID(header.tenant) else { return }
            let card = card(.locationCard, header.tenant, text.extracting(header.identifier))
            let (details, texts) = (header.details(in: text), header.texts(in: text))
            try body(
                IndexRow(of: LocationColumn.self) { column in
                    switch column {
                    case .tenantId: tenant
                    case .identifier: Array(copying: text.extracting(header.identifier))
                    case .name: Array(copying: text.extracting(header.name))
                    case .latitude: [UInt8](bigEndian: header.latitude.bitPattern)
                    case .longitude: [UInt8](bigEndian: header.longitude.bitPattern)
                    case .radius: [UInt8](bigEndian: header.radius.bitPattern)
                    case .details: details.isEmpty ? nil : Array(copying: text.extracting(details))
                    case .card: card.json
                    default: column == .cardImage ? card.imageText : texts[column]
                    }
                })
        }
    }

    private func forEachExperience(_ body: (IndexRow) throws -> Void) rethrows {
        try experiences.forEach { header, text in
            guard let tenant = presentID(header.tenant) else { return }
            let length = Int(header.urlLength)
            let location =
                header.binding == .location
                ? Array(copying: text.extracting(length..<text.count)) : nil
            let card = card(
                ExperienceKind(header.kind).cardNamespace, header.tenant, text.extracting(0..<length))
            try body(
                IndexRow(of: ExperienceColumn.self) { column in
                    switch column {
                    case .tenantId: tenant
                    case .kind: Array(ExperienceKind(header.kind).rawValue.utf8)
                    case .url: Array(copying: text.extracting(0..<length))
                    case .bundleId: Array(clips[Int(header.clip)].bundleID.text.utf8)
                    case .locationIdentifier: location
                    case .identifierRule:
                        header.binding == .rule ? Array(rules[Int(header.rule)].description.utf8) : nil
                    case .title: card.text.title
                    case .subtitle: card.text.subtitle
                    case .card: card.json
                    case .cardImage: card.imageText
                    }
                })
        }
    }

    private func forEachShortCode(_ body: (IndexRow) throws -> Void) rethrows {
        try shortCodes.forEach { header, text in
            guard let tenant = presentID(header.tenant) else { return }
            let length = Int(header.codeLength)
            try body(
                IndexRow(of: ShortCodeColumn.self) { column in
                    switch column {
                    case .tenantId: tenant
                    case .code: Array(copying: text.extracting(0..<length))
                    case .url: Array(copying: text.extracting(length..<text.count))
                    }
                })
        }
    }

    private func forEachRevokedAttestKey(_ body: (IndexRow) throws -> Void) rethrows {
        for key in revokedAttestKeys {
            guard let tenant = presentID(key.tenant) else { continue }
            try body(
                IndexRow(of: RevokedAttestKeyColumn.self) { column in
                    switch column {
                    case .tenantId: tenant
                    case .keyId: key.id.bytes
                    }
                })
        }
    }

    /// Returns a row that records only that the clip's row cannot be read.
    private static func unreadableRow(of clip: ClipEntry, _ tenant: [UInt8]) -> IndexRow {
        IndexRow(of: ClipColumn.self) { column in
            switch column {
            case .tenantId: tenant
            case .bundleId: Array(clip.bundleID.text.utf8)
            default: nil
            }
        }
    }

    private static func row(_ tenant: TenantEntry) -> IndexRow {
        func field(_ number: Int32?) -> [UInt8]? { number.map { [UInt8](bigEndian: Int64($0)) } }
        let limits = tenant.limits
        return IndexRow(of: TenantColumn.self) { column in
            switch column {
            case .tenantId: tenant.id.bytes
            case .suspendedAt: [tenant.isSuspended ? 1 : 0]
            case .keyRate: field(limits.key?.perSecond)
            case .keyBurst: field(limits.key?.burst)
            case .clientRate: field(limits.client?.perSecond)
            case .clientBurst: field(limits.client?.burst)
            case .newInstanceRate: field(limits.newInstances?.perSecond)
            case .newInstanceBurst: field(limits.newInstances?.burst)
            case .clientNewInstanceRate: field(limits.clientNewInstances?.perSecond)
            case .clientNewInstanceBurst: field(limits.clientNewInstances?.burst)
            case .name: Array(tenant.name.utf8)
            case .corsOrigins: Array(tenant.corsOrigins.sorted().joined(separator: " ").utf8)
            }
        }
    }

    private func presentID(_ tenant: TenantIndex) -> [UInt8]? {
        let tenant = tenants[Int(tenant)]
        return tenant.isPresent ? tenant.id.bytes : nil
    }
}

/// The output in blocks of equal size. The checksum combines the blocks one after another.
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

extension LookupIndex.KeyDigest {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }
}

extension [UInt8] {
    fileprivate init(bigEndian value: some FixedWidthInteger) {
        self = []
        appendBigEndian(value)
    }
}
