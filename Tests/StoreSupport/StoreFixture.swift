public import AppStoreConnectSimulator
public import Crypto

/// The account of App Store Connect in tests.
public enum StoreFixture {
    public static let key = P256.Signing.PrivateKey()
    public static let keyID = "KEY2345678"
    public static let individualKeyID = "INDIVIDUAL"
    public static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
    public static let appID = "1500000001"
    public static let clipID = "clip-1"
    public static let clipBundleID = "com.example.app.Clip"
    public static let domain = "example.com"

    public static var options: AppStoreConnectSimulator.Options {
        let pem = key.publicKey.pemRepresentation
        return AppStoreConnectSimulator.Options(
            keys: [
                .init(id: keyID, publicKey: pem, issuer: issuer),
                .init(id: individualKeyID, publicKey: pem, issuer: nil, apps: [appID]),
                .init(id: "SUPPORT", publicKey: pem, issuer: issuer, role: .customerSupport),
            ],
            apps: [
                .init(
                    id: appID, bundleID: "com.example.app",
                    clips: [.init(id: clipID, bundleID: clipBundleID, domains: [domain])]),
                .init(
                    id: "1500000002", bundleID: "com.example.other", primaryLocale: "ja",
                    clips: [.init(id: "clip-2", bundleID: "com.example.other.Clip")]),
            ])
    }
}
