import HTTPTypes
import Invocation
public import Locations
import Lookups
public import Metrics
import Notifications
public import Receipts

/// What is answered from memory, as JSON in UTF-8.
public struct APIResponses: Sendable {
    let confirmer: Confirmer
    let composer = NotificationComposer()
    /// Without it, answers have no receipts.
    let receipts: ReceiptIssuer?
    let counters: ConfirmationCounters
    let attestationCounters: AttestationCounters

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
        attestationCounters = AttestationCounters(metrics)
    }

    /// `GET /v1/lookup`: the business an invocation URL stands for.
    static func lookUp(_ url: InvocationURL, in table: TenantTable) throws(Problem) -> [UInt8] {
        do {
            return try table.lookUp(url).response(to: url)
        } catch {
            throw Problem(.notFound, error)
        }
    }
}
