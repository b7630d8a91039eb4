/// The size of a part of a payload: the cheapest way to write it, and the cheapest one without compressed text.
struct PieceSize {
    private(set) var cheapest: TextCost

    /// In bits; nil if only compressed text can write the part.
    private(set) var exact: Int?

    init(cheapest: TextCost, exact: Int?) {
        self.cheapest = cheapest
        self.exact = exact
    }

    init(exact: Int) {
        self.init(cheapest: TextCost().adding(bits: Double(exact)), exact: exact)
    }

    /// A path component or the value of a query item; nil if nothing can write it.
    ///
    /// - Parameter hasMore: Whether more of the URL follows, which costs the mark of an end.
    init?(_ value: ArraySlice<UInt8>, startingWith start: TextCost.Start, hasMore: Bool) {
        guard let text = Self(text: value, startingWith: start, hasMore: hasMore) else {
            // Digits, letters and dots are text too, so that nothing else can write the value.
            return nil
        }
        self = text
        if let number = Self.numberBits(value) { consider(exact: number) }
    }

    /// A value as compressed text or as characters of six bits.
    init?(text value: ArraySlice<UInt8>, startingWith start: TextCost.Start, hasMore: Bool) {
        guard value.allSatisfy(\.isSegmentText) else { return nil }
        self.init(cheapest: TextCost(value, startingWith: start, .segmented, isClosed: hasMore), exact: nil)
        if value.allSatisfy({ $0.isAlphanumeric || $0 == UInt8(ascii: ".") }) {
            consider(exact: 6 * (value.count + (hasMore ? 1 : 0)))
        }
    }

    /// Adds a further way to write the part.
    mutating func consider(exact bits: Int) {
        exact = min(bits, exact ?? bits)
        if Double(bits) < cheapest.bits { cheapest = TextCost().adding(bits: Double(bits)) }
    }

    func adding(_ bits: Int) -> Self {
        Self(cheapest: cheapest.adding(bits: Double(bits)), exact: exact.map { $0 + bits })
    }

    static func += (sum: inout Self, piece: Self) {
        sum.cheapest = sum.cheapest + piece.cheapest
        sum.exact = sum.exact.flatMap { sum in piece.exact.map { sum + $0 } }
    }

    /// The size of a decimal number: 8 bits for each 7 bits of the number; leading zeros cost nothing.
    ///
    /// - Returns: Nil for other texts, and for numbers of 38 or more digits, which no code holds.
    static func numberBits(_ text: ArraySlice<UInt8>) -> Int? {
        guard !text.isEmpty, text.allSatisfy(\.isDigit) else { return nil }
        let digits = text.drop { $0 == UInt8(ascii: "0") }
        guard digits.count < 38 else { return nil }
        let number = digits.reduce(UInt128(0)) { $0 * 10 + UInt128($1 - UInt8(ascii: "0")) }
        let length = UInt128.bitWidth - number.leadingZeroBitCount
        return 8 * max(1, (length + 6) / 7)
    }
}
