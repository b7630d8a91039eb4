import CBuild

/// The version and source of this binary.
public struct BuildInfo: Sendable, Hashable, CustomStringConvertible {
    public let version: String
    /// "unknown" for a build without this information, such as a plain `swift build`; with "-dirty" for a changed checkout.
    public let commit: String
    /// The day of the commit, not of the build, so that two builds of one commit are the same; or "unknown".
    public let date: String
    /// The compiler's version.
    public let swift: String

    public static let current = BuildInfo(
        version: "0.1.0", commit: String(cString: build_commit()), date: String(cString: build_date()),
        swift: compiler)

    private static var compiler: String {
        #if compiler(>=6.5)
            "6.5 or later"
        #elseif compiler(>=6.4)
            "6.4"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }

    /// For example `0.1.0 (commit 521a87eb of 2026-11-26, Swift 6.3)`.
    public var description: String {
        "\(version) (commit \(commit)\(date == "unknown" ? "" : " of \(date)"), Swift \(swift))"
    }
}
