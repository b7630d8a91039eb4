extension UInt8 {
    var isLower: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    var isUpper: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isAlphanumeric: Bool { isLower || isUpper || isDigit }

    var lowercased: UInt8 { isUpper ? self + 32 : self }

    /// Whether compressed text of one path component, name or value can have this character.
    var isSegmentText: Bool { isAlphanumeric || "&+-./=?_".utf8.contains(self) }
}
