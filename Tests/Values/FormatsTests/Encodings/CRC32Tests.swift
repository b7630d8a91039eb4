import Formats
import Testing

struct CRC32Tests {
    /// The check value that the catalogue of parametrised CRC algorithms gives for CRC-32/ISO-HDLC.
    @Test func checksumMatchesCatalogueCheckValue() {
        #expect(CRC32.checksum("123456789".utf8) == 0xCBF4_3926)
    }
}
