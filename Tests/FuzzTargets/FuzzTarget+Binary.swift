import Cards
import PostgreSQL

@testable import Lookups
@testable import TenantSites

extension FuzzTarget {
    /// Rows of three columns. Each field lies within its piece.
    static let copy = FuzzTarget("copy", upTo: 4_096) { bytes in
        var reader = BinaryCopyReader(columnCount: 3)
        try? reader.read(bytes) { fields in
            for field in fields { precondition(field.map { $0.upperBound <= bytes.count } != false) }
        }
    }

    /// The rows of a lookup index file without its checksum, because the fuzzer cannot guess a checksum.
    static let table = FuzzTarget("table", upTo: 16_384) { bytes in
        guard let length = try? lengthOfTable(bytes) else { return }
        precondition(length <= bytes.count)
    }

    /// Reads the rows of all relations.
    /// - Returns: The number of bytes up to the end of the last relation.
    static func lengthOfTable(_ bytes: [UInt8]) throws(LookupIndexError) -> Int {
        var (position, table, row) = (0, LookupIndex(), IndexRow(bytes: bytes, fields: []))
        for relation in IndexRelation.allCases {
            while try row.readTuple(at: &position, fieldCount: relation.columns.count) {
                try table.set(relation, row)
            }
        }
        table.compact()
        return position
    }

    /// Responses of name servers, which an attacker may write. No byte of a response is returned twice.
    static let dnsResponse = FuzzTarget("dns-answer", upTo: 4_096) { bytes in
        guard let texts = try? LibresolvQuery.texts(bytes[...]) else { return }
        precondition(texts.reduce(0) { $0 + $1.unicodeScalars.count } <= bytes.count)
    }

    static let image = FuzzTarget("image", upTo: 65_536) { bytes in
        guard let image = try? HeaderImage(bytes) else { return }
        precondition(image.byteCount == bytes.count)
    }
}
