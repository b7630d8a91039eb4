import Foundation

/// The links of a clip's app in pages and banners: its App Store page and the site's name.
public struct ClipLinks: Sendable, Hashable {
    /// The app's number in the App Store, as `https://apps.apple.com/app/id…` has it.
    public let appStoreID: String?
    /// Where people with Android are led; `https`.
    public let androidURL: String?
    public let siteName: DisplayName?

    /// Digits of a number in the App Store. [ours]
    public static let maximumIDLength = 19
    /// Bytes of a URL. [ours]
    public static let maximumURLLength = 2_048

    /// - Throws: `.invalidAppStoreID` and `.invalidAndroidURL`.
    public init(
        appStoreID: String? = nil, androidURL: String? = nil, siteName: DisplayName? = nil
    ) throws(AdministrationError) {
        guard appStoreID.map(Self.isID) != false else { throw .invalidAppStoreID }
        guard androidURL.map(Self.isURL) != false else { throw .invalidAndroidURL }
        self.init(appStoreID, androidURL, siteName)
    }

    /// Says nothing.
    public static let none = ClipLinks(nil, nil, nil)

    private init(_ appStoreID: String?, _ androidURL: String?, _ siteName: DisplayName?) {
        self.appStoreID = appStoreID
        self.androidURL = androidURL
        self.siteName = siteName
    }

    private static func isID(_ text: String) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return (1...maximumIDLength).contains(text.utf8.count) && text.utf8.allSatisfy(digits.contains)
            && text.utf8.first != UInt8(ascii: "0")
    }

    private static func isURL(_ text: String) -> Bool {
        guard text.utf8.count <= maximumURLLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            text.utf8.starts(with: "https://".utf8), let parts = URLComponents(string: text)
        else { return false }
        return parts.host?.isEmpty == false && parts.user == nil && parts.password == nil
    }
}
