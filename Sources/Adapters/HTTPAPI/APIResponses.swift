public import Confirmations
import HTTPTypes
import Invocation
public import Lookups
public import Metrics
import Notifications
public import Receipts

/// Responses from memory, as JSON in UTF-8.
public struct APIResponses: Sendable {
    let confirmer: Confirmer
    let composer = NotificationComposer()
    /// Nil if responses have no receipts.
    let receipts: ReceiptIssuer?
    /// Nil if lookups are not counted.
    let launches: (any LaunchCounter)?
    let counters: ConfirmationCounters
    let attestationCounters: AttestationCounters

    /// - Parameters:
    ///   - recorder: Records confirmations.
    ///   - launches: Counts lookups; nil for a program that does not serve clips.
    ///   - metrics: Counts confirmations.
    public init(
        recorder: any ConfirmationRecorder, receipts: ReceiptIssuer? = nil,
        launches: (any LaunchCounter)? = nil, metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        confirmer = Confirmer(recordingTo: recorder)
        self.receipts = receipts
        self.launches = launches
        counters = ConfirmationCounters(metrics)
        attestationCounters = AttestationCounters(metrics)
    }

    /// `GET /v1/lookup`: the location of an invocation URL.
    static func lookUp(_ url: InvocationURL, _ lookup: Lookup) throws(Problem) -> [UInt8] {
        do {
            return try lookup.response(to: url)
        } catch {
            throw Problem(.notFound, error)
        }
    }
}
