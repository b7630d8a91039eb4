import Foundation
import ValueFixtures

@testable import Lookups

extension LookupIndex {
    /// The pieces in which the index is written.
    func filePieces(asOf: Date = .year2000) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        write(asOf: asOf) { pieces.append(Array(copying: $0)) }
        return pieces
    }

    func fileBytes(asOf: Date = .year2000) -> [UInt8] {
        var bytes: [UInt8] = []
        write(asOf: asOf) { bytes.append(contentsOf: Array(copying: $0)) }
        return bytes
    }
}

extension [UInt8] {
    /// The index that these bytes contain.
    func reread() throws(LookupIndexError) -> LookupIndex {
        try LookupIndex.read(self).table
    }

    /// The bytes of a small file, with a correct checksum.
    func withChecksum() -> [UInt8] {
        var checksum = ByteHash(seed: 0x646F_6F72_7374_6570)
        let body = Array(self[..<(count - 8)])
        checksum.combine(body.span)
        return body + [UInt8](bigEndian: checksum.value)
    }
}
