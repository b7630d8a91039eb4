import Administration
import HTML
import HTTPTypes
import Tenancy

/// What a page says, without what stands around it on every page.
struct Page {
    let title: String
    /// Nil for a page that is about no tenant.
    var tenant: Tenant?
    var section: Section?
    var status: HTTPResponse.Status = .ok
    /// The same by command: lines to type.
    var commands: [String] = []
    /// Whether a map is drawn on it.
    var hasMap = false
    /// What was just done.
    var notice: String?
    /// What stands below the title and the notice.
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

    /// The pages of a tenant that stand beside each other.
    enum Section: String, CaseIterable {
        case places
        case diagnose
        case problems
        case urls
        case domains
        case keys
        case webhooks
        case confirmations
        case deliveries
        case images
        case `import`
        case appstore
        case audit

        var title: String {
            switch self {
            case .places: "Locations"
            case .diagnose: "Diagnose"
            case .problems: "Problems"
            case .urls: "URLs"
            case .domains: "Domains"
            case .keys: "Keys"
            case .webhooks: "Webhooks"
            case .confirmations: "Confirmations"
            case .deliveries: "Deliveries"
            case .images: "Images"
            case .import: "Import"
            case .appstore: "App Store"
            case .audit: "Audit log"
            }
        }

        /// The letter that leads there after `g`.
        var key: String {
            switch self {
            case .places: "p"
            case .diagnose: "d"
            case .problems: "l"
            case .urls: "u"
            case .domains: "o"
            case .keys: "k"
            case .webhooks: "w"
            case .confirmations: "c"
            case .deliveries: "s"
            case .images: "i"
            case .import: "m"
            case .appstore: "t"
            case .audit: "a"
            }
        }
    }
}

extension HTMLLink {
    static let home = HTMLLink("/")
}
