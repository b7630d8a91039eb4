import AppAttest
import Metrics

/// Counts checks of App Attest by operation and result.
///
/// The counters are looked up once, because finding a counter costs more than incrementing it.
struct AttestationCounters: Sendable {
    /// The counted operations that are not in a clip's policy.
    enum Exchange: String, CaseIterable {
        /// A clip attests a key.
        case attest
        /// A clip requests a token.
        case token
        /// An attested key registers an instance, which must belong to this key.
        case bind
    }

    enum Result: String, CaseIterable {
        case verified, missing, expired, invalid, reused
        case wrongApp = "wrong_app"
        case wrongEnvironment = "wrong_environment"
        case unknownKey = "unknown_key"
        case revoked
        /// The instance belongs to another key.
        case otherKey = "other_key"
        /// The key has reached its maximum of instances.
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

    /// Counts a request's evidence, unless the server cannot verify it.
    func count(_ operation: ClipAttestation.Operation, _ evidence: AttestationControl.Evidence) {
        switch evidence {
        case .attested: counters[operation.rawValue]?[.verified]?.increment()
        case .missing: counters[operation.rawValue]?[.missing]?.increment()
        case .refused(let refusal): counters[operation.rawValue]?[Result(refusal)]?.increment()
        case .unavailable, .notConfigured: break
        }
    }

    /// - Parameter refusal: Nil if the check succeeded.
    func count(_ exchange: Exchange, _ refusal: AttestationRefusal?) {
        counters[exchange.rawValue]?[refusal.map(Result.init) ?? .verified]?.increment()
    }

    /// Counts the binding of an instance to a key, also if the policy only monitors it.
    func count(bindingOf result: Result) {
        counters[Exchange.bind.rawValue]?[result]?.increment()
    }
}
