/// The trace of a request, as `traceparent` names it (W3C Trace Context, level 1).
///
/// Two values are equal if they name the same trace, whatever their spans.
public struct TraceContext: Sendable, Hashable {
    /// 32 lower-case hexadecimal digits.
    public let id: String
    /// Whether the caller records the trace.
    public let isSampled: Bool
    /// The caller's span: 16 lower-case hexadecimal digits. Nil for a stored trace, which keeps no span.
    public let span: String?

    /// The trace of the request that this task carries out.
    ///
    /// A task-local value, so that each transaction stores it with the events that it causes, without a parameter in every store.
    @TaskLocal public static var current: TraceContext?

    /// - Parameters:
    ///   - id: 32 lower-case hexadecimal digits, not all 0.
    ///   - span: 16 lower-case hexadecimal digits, not all 0.
    public init(id: String, span: String, isSampled: Bool) {
        self.id = id
        self.span = span
        self.isSampled = isSampled
    }

    public static func == (one: TraceContext, other: TraceContext) -> Bool { one.stored == other.stored }

    public func hash(into hasher: inout Hasher) { hasher.combine(stored) }

    /// Reads `traceparent`. An invalid value is no trace (§3.2.2): the field must occur once and in lower case, and IDs are not 0.
    /// Fields of a later version may be longer.
    public init?(traceparent field: String) {
        let field = field.utf8.span
        let bytes = field.extracting(field.trimmingBlanks(0..<field.count))
        // VV-<32 digits>-<16 digits>-FF
        guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            let version = bytes.hexadecimal(0..<2), version != 0xFF,
            bytes.count == 55 || version > 0 && bytes[55] == UInt8(ascii: "-"),
            bytes.isNonzeroHexadecimal(3..<35), bytes.isNonzeroHexadecimal(36..<52),
            let flags = bytes.hexadecimal(53..<55)
        else { return nil }
        id = bytes.text(3..<35)
        span = bytes.text(36..<52)
        isSampled = flags & 1 == 1
    }

    /// Reads ``stored``.
    public init?(stored: String) {
        let bytes = stored.utf8.span
        guard bytes.count == 35, bytes.isNonzeroHexadecimal(0..<32), bytes[32] == UInt8(ascii: "-"),
            let flags = bytes.hexadecimal(33..<35)
        else { return nil }
        id = bytes.text(0..<32)
        span = nil
        isSampled = flags & 1 == 1
    }

    /// The ID and the flags, as the database stores them.
    public var stored: String { "\(id)-\(flags)" }

    /// `traceparent` of a request that belongs to the trace.
    /// - Parameter span: The ID of the span of this request. 0 is replaced by 1, because no span has the ID 0.
    public func traceparent(span: UInt64 = .random(in: 1 ... .max)) -> String {
        let digits = String(max(span, 1), radix: 16)
        return "00-\(id)-\(String(repeating: "0", count: 16 - digits.utf8.count))\(digits)-\(flags)"
    }

    /// `traceparent` with the span of this context; nil without a span.
    public var traceparent: String? { span.map { "00-\(id)-\($0)-\(flags)" } }

    private var flags: String { isSampled ? "01" : "00" }
}

extension Span<UInt8> {
    /// A value of two lower-case hexadecimal digits.
    fileprivate func hexadecimal(_ range: Range<Int>) -> UInt8? {
        guard isHexadecimal(range) else { return nil }
        return UInt8(text(range), radix: 16)
    }

    fileprivate func isNonzeroHexadecimal(_ range: Range<Int>) -> Bool {
        isHexadecimal(range) && range.contains { self[$0] != UInt8(ascii: "0") }
    }

    private func isHexadecimal(_ range: Range<Int>) -> Bool {
        range.allSatisfy { index in
            switch self[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
            default: false
            }
        }
    }

    /// - Parameter range: Of ASCII.
    fileprivate func text(_ range: Range<Int>) -> String {
        extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
