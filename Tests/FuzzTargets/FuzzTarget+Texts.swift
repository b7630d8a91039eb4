import APNsPayload
import Administration
import Formats
import Invocation

extension FuzzTarget {
    /// The canonical form of a canonical URL is the same URL.
    static let url = FuzzTarget("url", upTo: 4_096) { bytes in
        guard let url = try? InvocationURL(utf8: bytes.span) else { return }
        let again = try? InvocationURL(url.canonical)
        precondition(again == url && again?.canonical == url.canonical, "\(url.canonical)")
        _ = (url.port, url.pathComponents, url.queryItems, url.fragment)
        _ = (DefaultLink(url), try? AppClipCodeURL(url.canonical))
        for rule in identifierRules { _ = rule.read(url, afterPathComponents: 0) }
    }

    private static let identifierRules = ["path:1", "query:p", "hash:c", "coordinates:lat,lon,r"].compactMap {
        try? IdentifierRule($0)
    }

    /// A registered prefix matches the URL with the same text.
    static let urlPrefix = FuzzTarget("url-prefix", upTo: 4_096) { bytes in
        guard let prefix = try? URLPrefix(String(decoding: bytes, as: UTF8.self)) else { return }
        precondition((try? URLPrefix(prefix.canonical)) == prefix, "\(prefix)")
        precondition((try? InvocationURL(prefix.canonical)).map(prefix.matches) == true, "\(prefix)")
    }

    static let address = FuzzTarget("address", upTo: 256) { bytes in
        _ = AddressRange(String(decoding: bytes, as: UTF8.self))
    }

    /// Reading a serialized value returns the same value.
    static let json = FuzzTarget("json", upTo: 16_384) { bytes in
        guard let value = try? JSONValue(parsing: bytes) else { return }
        precondition((try? JSONValue(parsing: value.serialized())) == value)
    }

    static let payload = FuzzTarget("payload", upTo: 8_192) { bytes in
        guard let object = try? JSONValue(parsing: bytes).objectValue else { return }
        guard let payload = try? NotificationPayload(json: object) else { return }
        _ = payload.warnings
        guard let encoded = try? payload.encoded(for: .alert) else { return }
        precondition((try? JSONValue(parsing: encoded.bytes)) == encoded.json)
    }

    static let csv = FuzzTarget("csv", upTo: 16_384) { bytes in
        expectSameInPieces(bytes) { TableReader<LocationRecord>(maximumRowLength: 4_096) }
        expectSameInPieces(bytes) { TableReader<ExperienceRecord>(maximumRowLength: 4_096) }
        expectSameInPieces(bytes) { TableReader<ShortCode>(maximumRowLength: 4_096) }
    }

    static let jsonLines = FuzzTarget("json-lines", upTo: 16_384) { bytes in
        expectSameInPieces(bytes) { JSONLineReader<LocationRecord>(maximumLineLength: 4_096) }
        expectSameInPieces(bytes) { JSONLineReader<ExperienceRecord>(maximumLineLength: 4_096) }
        expectSameInPieces(bytes) { JSONLineReader<Clip>(maximumLineLength: 4_096) }
    }

    /// The result of reading a file does not depend on its division into pieces.
    private static func expectSameInPieces<Reader: RowReader>(
        _ bytes: [UInt8], _ makeReader: () -> Reader
    ) where Reader.Row: Hashable {
        let cut = bytes.first.map { Int($0) % bytes.count } ?? 0
        let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
        precondition(FileContent(of: [bytes], by: makeReader()) == FileContent(of: pieces, by: makeReader()))
    }

    static let archive = FuzzTarget("archive", upTo: 16_384) { bytes in
        let file = Once(bytes)
        var reader = TenantArchiveReader { file.take() }
        guard (try? reader.readTenant()) != nil else { return }
        try? reader.readRest()
    }

    /// A page of a website. Doorstep reads the metadata of such pages.
    static let page = FuzzTarget("page", upTo: 16_384) { bytes in
        let metadata = PageMetadata(ofPage: bytes)
        precondition(metadata.properties.keys.allSatisfy { $0.hasPrefix("og:") })
    }

    static let association = FuzzTarget("association", upTo: 16_384) { bytes in
        _ = try? AssociationFile(parsing: bytes)
        _ = try? AssociationContent(parsing: bytes)
    }
}

/// The rows and problems that a reader finds in a file.
struct FileContent<Row: Hashable & Sendable>: Equatable {
    var rows: [Row] = []
    var lines: [Int] = []
    var problems: [ImportProblem] = []
    /// The error that ended the reading.
    var refusal: String?

    init<Reader: RowReader>(of pieces: [[UInt8]], by reader: Reader) where Reader.Row == Row {
        var reader = reader
        do {
            for piece in pieces { add(try reader.rows(in: piece)) }
            add(try reader.finish())
        } catch {
            refusal = "\(error)"
        }
    }

    private mutating func add(_ imported: [ImportedRow<Row>]) {
        for row in imported {
            switch row {
            case .row(let row, let line, _):
                rows.append(row)
                lines.append(line)
            case .refused(let problem): problems.append(problem)
            }
        }
    }
}
