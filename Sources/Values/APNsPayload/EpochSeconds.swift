/// Checks for times in seconds since 1970 in requests.
enum EpochSeconds {
    /// The last second of the year 9999. A larger number is a time in milliseconds or smaller units. [ours]
    private static let last = 253_402_300_799

    /// Why a number is not a time in seconds; nil for one that is.
    static func defect(of time: Int) -> String? {
        guard time >= 0 else { return "must not be negative" }
        guard time > last else { return nil }
        var seconds = time
        while seconds > last { seconds /= 1_000 }
        return "must be in seconds since 1970; got \(time), did you mean \(seconds)?"
    }

    static func validate(_ time: Int, field: String) throws(PayloadError) {
        if let reason = defect(of: time) { throw .invalid(field: field, reason: reason) }
    }
}
