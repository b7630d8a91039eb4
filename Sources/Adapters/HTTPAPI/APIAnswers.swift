import HTTPTypes
public import Invocation
import JSON
public import Locations
public import Metrics
import Notifications
public import Routing
public import Tenancy

/// What the API answers, as JSON in UTF-8, apart from HTTP: the routes send it, and the commands print it.
public struct APIAnswers: Sendable {
    let directory: LocationDirectory
    let composer = NotificationComposer()
    /// Without it, answers have no receipts.
    let receipts: ReceiptIssuer?
    let counters: ConfirmationCounters

    /// - Parameter metrics: Where confirmations are counted.
    public init(
        directory: LocationDirectory, receipts: ReceiptIssuer? = nil,
        metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        self.directory = directory
        self.receipts = receipts
        counters = ConfirmationCounters(metrics)
    }

    /// `GET /v1/lookup`: the business an invocation URL stands for.
    public func lookUp(
        _ url: InvocationURL, of tenant: TenantID, in table: RoutingTable
    ) throws(Problem) -> [UInt8] {
        switch directory.lookUp(url, of: tenant, in: table) {
        case .found(let experience, let location):
            var writer = JSONWriter()
            writer.write(literal: #"{"experience":"#)
            writer.write(experience)
            writer.write(literal: #","location":"#)
            writer.write(location)
            writer.write(literal: #","url":"#)
            writer.write(quoted: url.canonical)
            writer.write(literal: "}")
            return writer.bytes
        case .doesNotMatch:
            throw Problem(.notFound, "does_not_match", "no experience matches the URL")
        case .noIdentifier(let experience):
            throw Problem(
                .notFound, "no_identifier", "the URL names no location",
                members: ["experience": JSONValue(experience)])
        case .unknownIdentifier(let experience):
            throw Problem(
                .notFound, "unknown_identifier", "the URL names a location that is not known",
                members: ["experience": JSONValue(experience)])
        }
    }
}
