import AppAttest
import Metrics

/// Counts what requests bring of App Attest, by what they ask for and what became of it.
///
/// The counters are found once.
struct AttestationCounters: Sendable {
    /// What is asked for, beside what a clip's policy is about.
    enum Exchange: String, CaseIterable {
        /// A key is attested.
        case attest
        /// A token is asked for.
        case token
        /// An attested key tells of an instance, which is to be its own.
        case bind
    }

    enum Result: String, CaseIterable {
        case verified, missing, expired, invalid, reused
        case wrongApp = "wrong_app"
        case wrongEnvironment = "wrong_environment"
        case unknownKey = "unknown_key"
        case revoked
        /// An instance that is another key's.
        case otherKey = "other_key"
        /// One more than a key may have.
        case tooManyInstances = "too_many_instances"

        fileprivate init(_ refusal: AttestationRefusal) {
            self =
                switch refusal {
                case .token(.expired), .challenge(.expired): .expired
                case .counter(.notGreater): .reused
                case .appID, .token(.otherApp), .challenge(.otherClip): .wrongApp
                case .environment: .wrongEnvironment
                case .key(.unknown): .unknownKey
                case .key(.revoked): .revoked
                default: .invalid
                }
        }
    }

    private let counters: [String: [Result: Counter]]

    init(_ factory: any MetricsFactory) {
        let operations =
            ClipAttestation.Operation.allCases.map(\.rawValue) + Exchange.allCases.map(\.rawValue)
        counters = Dictionary(
            uniqueKeysWithValues: operations.map { operation in
                let counters = Result.allCases.map { result in
                    let counter = Counter(
                        label: "doorstep_attestation_checks",
                        dimensions: [("operation", operation), ("result", result.rawValue)],
                        factory: factory)
                    return (result, counter)
                }
                return (operation, Dictionary(uniqueKeysWithValues: counters))
            })
    }

    /// Not where the server cannot check it.
    func count(_ operation: ClipAttestation.Operation, _ evidence: AttestationControl.Evidence) {
        switch evidence {
        case .attested: counters[operation.rawValue]?[.verified]?.increment()
        case .missing: counters[operation.rawValue]?[.missing]?.increment()
        case .refused(let refusal): counters[operation.rawValue]?[Result(refusal)]?.increment()
        case .unavailable, .notConfigured: break
        }
    }

    /// - Parameter refusal: Nil for what was verified.
    func count(_ exchange: Exchange, _ refusal: AttestationRefusal?) {
        counters[exchange.rawValue]?[refusal.map(Result.init) ?? .verified]?.increment()
    }

    /// Also where it was only monitored, and nothing was refused.
    func count(bindingOf result: Result) {
        counters[Exchange.bind.rawValue]?[result]?.increment()
    }
}
