import Foundation
public import Invocation

/// The links of a clip's app in pages and banners: its App Store page and the site's name.
public struct ClipLinks: Sendable, Hashable {
    /// The app's number in the App Store, as in `https://apps.apple.com/app/id…`.
    public let appStoreID: String?
    /// The `https` URL for people with Android.
    public let androidURL: String?
    public let siteName: DisplayName?

    /// The maximum number of digits of an App Store ID. [ours]
    public static let maximumIDLength = 19
    /// The maximum number of bytes of a URL. [ours]
    public static let maximumURLLength = 2_048

    /// - Throws: `.invalidAppStoreID` and `.invalidAndroidURL`.
    public init(
        appStoreID: String? = nil, androidURL: String? = nil, siteName: DisplayName? = nil
    ) throws(AdministrationError) {
        guard appStoreID.map(Self.isID) != false else { throw .invalidAppStoreID }
        guard androidURL.map(Self.isURL) != false else { throw .invalidAndroidURL }
        self.init(appStoreID, androidURL, siteName)
    }

    /// No links.
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
