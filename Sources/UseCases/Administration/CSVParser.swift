/// Reads comma-separated values (RFC 4180) from chunks of bytes of any size. The separator can be another character than a comma.
///
/// Also accepted: a byte order mark, and lines that end in LF or CR alone. Memory is bounded by one record. After a refused record,
/// reading continues with the next line that can be recognized. A record that is too long ends the reading, because it may have no
/// end. If a quote is never closed, the rest of the file belongs to its field, and the error names the line of the quote.
struct CSVParser {
    struct Record: Hashable {
        /// The line on which the record starts, from 1.
        let line: Int
        let content: Content
    }

    enum Content: Hashable {
        case fields([String])
        case refused(String)
    }

    /// In bytes, unless stated otherwise.
    static let maximumRecordLength = 1 << 20

    private let maximumRecordLength: Int
    private let separator: UInt8

    private enum State {
        case fieldStart, unquoted, quoted, quoteInQuoted, refused
    }

    private var state = State.fieldStart
    private var line = 1
    private var recordLine = 1
    private(set) var blankLineCount = 0
    /// Whether a record was too long, so that the parser ignores the rest.
    private(set) var isAtEnd = false
    private var fields: [String] = []
    private var field: [UInt8] = []
    private var recordLength = 0
    private var refusal: String?
    private var followsCR = false
    private var markOffset: Int? = 0

    init(
        maximumRecordLength: Int = Self.maximumRecordLength, separator: UInt8 = Self.comma
    ) {
        self.maximumRecordLength = maximumRecordLength
        self.separator = separator
    }

    /// Passes each record that ends in `chunk` to `emit`, in order.
    mutating func consume(_ chunk: some Sequence<UInt8>, emit: (Record) -> Void) {
        for byte in chunk {
            guard !isAtEnd else { return }
            if let offset = markOffset {
                if byte == Self.byteOrderMark[offset] {
                    markOffset = offset + 1 < Self.byteOrderMark.count ? offset + 1 : nil
                    continue
                }
                markOffset = nil
                for held in Self.byteOrderMark.prefix(offset) { take(held, emit: emit) }
            }
            take(byte, emit: emit)
        }
    }

    /// Passes the last record to `emit`, if no line break follows it.
    mutating func finish(emit: (Record) -> Void) {
        guard !isAtEnd else { return }
        if let offset = markOffset, offset > 0 {
            for held in Self.byteOrderMark.prefix(offset) { take(held, emit: emit) }
        }
        markOffset = nil
        if state == .quoted { refusal = "a quoted field has no closing quote" }
        if recordLength > 0 { endRecord(emit: emit) }
    }

    private mutating func take(_ byte: UInt8, emit: (Record) -> Void) {
        let isLineBreak = byte == Self.lineFeed || byte == Self.carriageReturn
        let endsCRLF = followsCR && byte == Self.lineFeed
        followsCR = byte == Self.carriageReturn
        if isLineBreak, !endsCRLF { line += 1 }
        if isLineBreak, state != .quoted {
            if !endsCRLF { endRecord(emit: emit) }
            return
        }

        recordLength += 1
        guard recordLength <= maximumRecordLength else { return endReading(emit: emit) }
        switch state {
        case .fieldStart where byte == Self.quote:
            state = .quoted
        case .fieldStart, .unquoted, .quoteInQuoted:
            switch byte {
            case separator:
                endField()
            case Self.quote where state == .quoteInQuoted:
                append(byte)
                state = .quoted
            case _ where state == .quoteInQuoted:
                refuse("a closing quote is followed by text")
            case Self.quote:
                refuse("an unquoted field contains a quote")
            default:
                append(byte)
                state = .unquoted
            }
        case .quoted:
            if byte == Self.quote { state = .quoteInQuoted } else { append(byte) }
        case .refused:
            break
        }
    }

    private mutating func append(_ byte: UInt8) {
        if refusal == nil { field.append(byte) }
    }

    private mutating func refuse(_ reason: String) {
        refusal = refusal ?? reason
        state = .refused
    }

    private mutating func endField() {
        if refusal == nil {
            if let text = String(validating: field, as: UTF8.self) {
                fields.append(text)
            } else {
                refusal = "field \(fields.count + 1) is not UTF-8"
            }
        }
        field.removeAll(keepingCapacity: true)
        state = .fieldStart
    }

    /// Refuses a record that is too long.
    private mutating func endReading(emit: (Record) -> Void) {
        var reason =
            "the row is longer than \(maximumRecordLength) bytes, so the rest of the file was not read"
        if let refusal { reason = "\(refusal); \(reason)" }
        if state == .quoted { reason += "; check whether a closing quote is missing" }
        emit(Record(line: recordLine, content: .refused(reason)))
        isAtEnd = true
        (fields, field) = ([], [])
    }

    private mutating func endRecord(emit: (Record) -> Void) {
        endField()
        if let refusal {
            emit(Record(line: recordLine, content: .refused(refusal)))
        } else if recordLength > 0 {
            // A blank line is not a record. A line with one quoted empty field is a record.
            emit(Record(line: recordLine, content: .fields(fields)))
        } else {
            blankLineCount += 1
        }
        fields.removeAll(keepingCapacity: true)
        refusal = nil
        recordLength = 0
        recordLine = line
    }

    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let quote = UInt8(ascii: "\"")
    static let comma = UInt8(ascii: ",")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
}
