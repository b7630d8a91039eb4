public import Tenancy

/// The ID of an app or an App Clip in an association file, such as `ABCDE12345.com.example.App`.
///
/// Source: Apple, "applinks.Details": `<Application Identifier Prefix>.<Bundle Identifier>`.
public struct AppID: Sendable, Hashable, CustomStringConvertible {
    public let prefix: AppIDPrefix
    public let bundleID: BundleID

    public init(prefix: AppIDPrefix, bundleID: BundleID) {
        self.prefix = prefix
        self.bundleID = bundleID
    }

    public init(_ text: String) throws(TenancyError) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        try self.init(
            prefix: AppIDPrefix(String(parts[0])), bundleID: BundleID(parts.count > 1 ? String(parts[1]) : "")
        )
    }

    public var text: String { "\(prefix.text).\(bundleID.text)" }

    public var description: String { text }

    /// The app that an App Clip with this ID belongs to.
    public var parent: AppID? {
        bundleID.parent.map { AppID(prefix: prefix, bundleID: $0) }
    }
}
