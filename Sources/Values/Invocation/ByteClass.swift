/// The classes of a byte in canonical text, several tests in one table read (RFC 3986 §3.2 to §3.5).
struct ByteClass {
    private let bits: UInt8

    /// Part of a host's label: a lower-case letter, a digit, a hyphen, or an underscore, which the DNS
    /// allows and RFC 1123 does not.
    static let label = ByteClass(bits: 1)

    /// Part of a path component in unencoded form: `pchar` without percent-encoding.
    static let path = ByteClass(bits: 2)

    /// Part of a query or a fragment in unencoded form: `pchar`, `/` and `?`.
    static let query = ByteClass(bits: 4)

    /// Part of a query in unencoded form that is no delimiter of items, names and values.
    static let queryItem = ByteClass(bits: 8)

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        Self.table[Int(byte)] & bits != 0
    }

    /// The classes of each byte; written out, because access to a computed table would take a lock.
    private static let table: InlineArray<256, UInt8> = [
        // controls
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        // SP ! " # $ % & ' ( ) * + , - . /
        0, 0xE, 0, 0, 0xE, 0, 0x6, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xF, 0xE, 0xC,
        // 0–9 : ; < = > ?
        0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xE, 0xE, 0, 0x6, 0, 0xC,
        // @ A–O
        0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE,
        // P–Z [ \ ] ^ _
        0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0xE, 0, 0, 0, 0, 0xF,
        // ` a–o
        0, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF,
        // p–z { | } ~ DEL
        0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0xF, 0, 0, 0, 0xE, 0,
        // no ASCII
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ]
}
