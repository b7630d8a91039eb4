import Administration
import Formats
import HTTPTypes
import Tenancy

/// The content of a page, without the frame that ``Layout`` adds.
struct Page {
    let title: String
    /// Nil for a page without a tenant.
    var tenant: Tenant?
    var section: Section?
    var status: HTTPResponse.Status = .ok
    /// The equivalent commands.
    var commands: [String] = []
    /// Whether the page has a map.
    var hasMap = false
    /// The confirmation of the last action.
    var notice: String?
    /// The content below the title and the notice.
    let body: (inout HTMLWriter) -> Void

    init(
        title: String, tenant: Tenant? = nil, section: Section? = nil, status: HTTPResponse.Status = .ok,
        commands: [String] = [], hasMap: Bool = false, notice: String? = nil,
        body: @escaping (inout HTMLWriter) -> Void
    ) {
        self.title = title
        self.tenant = tenant
        self.section = section
        self.status = status
        self.commands = commands
        self.hasMap = hasMap
        self.notice = notice
        self.body = body
    }

    /// The groups of the navigation.
    enum Group: String, CaseIterable {
        case locations = "Locations"
        case urls = "Codes and URLs"
        case notifications = "Notifications"
        case settings = "Settings"
    }

    /// The pages in a tenant's navigation.
    enum Section: String, CaseIterable {
        case overview
        case locations = "places"
        case `import`
        case problems
        case statistics
        case confirmations
        case diagnose
        case urls
        case codes
        case clips
        case images
        case domains
        case appstore
        case deliveries
        case keys
        case webhooks
        case audit
        case requests

        var title: String {
            switch self {
            case .overview: "Overview"
            case .locations: "Locations"
            case .diagnose: "Diagnose"
            case .problems: "Problems"
            case .urls: "URLs"
            case .codes: "Short codes"
            case .clips: "App Clips"
            case .domains: "Domains"
            case .keys: "Keys"
            case .webhooks: "Webhooks"
            case .statistics: "Statistics"
            case .confirmations: "Confirmations"
            case .deliveries: "Deliveries"
            case .images: "Images"
            case .import: "Import"
            case .appstore: "App Store"
            case .audit: "Audit log"
            case .requests: "Requests"
            }
        }

        var group: Group {
            switch self {
            case .overview, .locations, .import, .problems, .statistics, .confirmations: .locations
            case .diagnose, .urls, .codes, .clips, .domains, .images, .appstore: .urls
            case .deliveries: .notifications
            case .keys, .webhooks, .audit, .requests: .settings
            }
        }

        /// The letter of the page's shortcut, after `g`.
        var key: String {
            switch self {
            case .overview: "v"
            case .locations: "p"
            case .diagnose: "d"
            case .problems: "l"
            case .urls: "u"
            case .codes: "h"
            case .clips: "b"
            case .domains: "o"
            case .keys: "k"
            case .webhooks: "w"
            case .statistics: "n"
            case .confirmations: "c"
            case .deliveries: "s"
            case .images: "i"
            case .import: "m"
            case .appstore: "t"
            case .audit: "a"
            case .requests: "r"
            }
        }
    }
}

extension HTMLLink {
    static let home = HTMLLink("/")
}
