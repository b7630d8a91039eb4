/// The distribution channel of a build, as iOS 27 and later sign it.
///
/// Source: Apple, "Validating apps that connect to your server"; 0 and 7 to 9 never occur.
public enum ValidationCategory: UInt32, Sendable, CaseIterable {
    case operatingSystem = 1
    case testFlight = 2
    case development = 3
    case appStore = 4
    /// Enterprise or ad hoc.
    case enterprise = 5
    case developerID = 6
    case other = 10

    /// The name in options and lists, such as `app_store`.
    public var name: String {
        switch self {
        case .operatingSystem: "operating_system"
        case .testFlight: "test_flight"
        case .development: "development"
        case .appStore: "app_store"
        case .enterprise: "enterprise"
        case .developerID: "developer_id"
        case .other: "other"
        }
    }

    public init?(name: String) {
        guard let category = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = category
    }
}
