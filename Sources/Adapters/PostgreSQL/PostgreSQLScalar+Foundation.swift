public import Foundation

extension UUID: PostgreSQLScalar {
    public static var scalarType: PostgreSQLType { .uuid }
    public static var arrayType: PostgreSQLType { .uuidArray }
    public static var scalarName: String { "uuid" }

    public init?(binary: UnsafeRawBufferPointer) {
        guard binary.count == 16 else { return nil }
        self.init(uuid: binary.loadUnaligned(as: uuid_t.self))
    }

    public func encodeBinary(into bytes: inout [UInt8]) {
        withUnsafeBytes(of: uuid) { bytes.append(contentsOf: $0) }
    }
}

/// `timestamp with time zone`, in whole microseconds.
///
/// A `Date` keeps microseconds exactly from 1729 to 2273; outside, it is a `Double` that has fewer digits.
/// The server's `infinity` is `Date.distantFuture` and `-infinity` is `Date.distantPast`, both ways.
extension Date: PostgreSQLScalar {
    public static var scalarType: PostgreSQLType { .timestamptz }
    public static var arrayType: PostgreSQLType { .timestamptzArray }
    public static var scalarName: String { "timestamp with time zone" }

    /// From 2000-01-01, the origin of PostgreSQL, to 2001-01-01, the origin of Foundation: a leap year.
    private static let secondsBetweenEpochs: Int64 = 366 * 86_400

    /// The server's range is 4713 BC to 294276 AD (PostgreSQL, "Date/Time Types").
    private static let serverMicroseconds: Range<Int64> = -211_813_488_000_000_000..<9_223_371_331_200_000_000

    public init?(binary: UnsafeRawBufferPointer) {
        guard binary.count == 8, let microseconds = binary.integer else { return nil }
        switch microseconds {
        case .max: self = .distantFuture
        case .min: self = .distantPast
        default:
            // Whole seconds and the rest apart: each is exact, so the sum is rounded only once.
            let seconds = microseconds / 1_000_000 - Self.secondsBetweenEpochs
            let rest = microseconds % 1_000_000
            self.init(timeIntervalSinceReferenceDate: Double(seconds) + Double(rest) / 1_000_000)
        }
    }

    public func encodeBinary(into bytes: inout [UInt8]) throws(PostgreSQLError) {
        switch self {
        case .distantFuture: bytes.append(bigEndian: Int64.max)
        case .distantPast: bytes.append(bigEndian: Int64.min)
        default:
            let whole = timeIntervalSinceReferenceDate.rounded(.down)
            let rest = ((timeIntervalSinceReferenceDate - whole) * 1_000_000).rounded()
            guard whole.isFinite, abs(whole) < 10e12 else {
                throw .encoding(reason: "a time outside the server's range")
            }
            let (microseconds, overflow) = (Int64(whole) + Self.secondsBetweenEpochs)
                .multipliedReportingOverflow(by: 1_000_000)
            guard !overflow, Self.serverMicroseconds.contains(microseconds) else {
                throw .encoding(reason: "a time outside the server's range")
            }
            bytes.append(bigEndian: microseconds + Int64(rest))
        }
    }
}

extension Data: PostgreSQLEncodable, PostgreSQLDecodable {
    public static var postgreSQLType: PostgreSQLType { .bytea }

    public func encode(into bytes: inout [UInt8]) {
        bytes.append(contentsOf: self)
    }

    public init(_ cell: Cell) throws(PostgreSQLError) {
        guard cell.column.type == .bytea, let data = cell.withBytes({ Data($0) }) else {
            throw cell.mismatch(expected: "bytea")
        }
        self = data
    }
}
