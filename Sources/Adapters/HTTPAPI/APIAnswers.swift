import HTTPTypes
public import Invocation
import JSON
public import Locations
public import Metrics
import Notifications
public import Receipts
public import Routing

/// What the API answers, as JSON in UTF-8, apart from HTTP: the routes send it, and the commands print it.
public struct APIAnswers: Sendable {
    let confirmer: Confirmer
    let composer = NotificationComposer()
    /// Without it, answers have no receipts.
    let receipts: ReceiptIssuer?
    let counters: ConfirmationCounters

    /// - Parameters:
    ///   - recorder: What keeps that confirmations were given.
    ///   - metrics: Where confirmations are counted.
    public init(
        recorder: any ConfirmationRecorder, receipts: ReceiptIssuer? = nil,
        metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        confirmer = Confirmer(recordingTo: recorder)
        self.receipts = receipts
        counters = ConfirmationCounters(metrics)
    }

    /// `GET /v1/lookup`: the business an invocation URL stands for.
    public static func lookUp(_ url: InvocationURL, in table: TenantTable) throws(Problem) -> [UInt8] {
        switch table.lookUp(url) {
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
        case .unknownIdentifier(let experience), .shortCodeAgain(let experience):
            throw Problem(
                .notFound, "unknown_identifier", "the URL names a location that is not known",
                members: ["experience": JSONValue(experience)])
        }
    }
}
