import Crypto
import Invocation

/// A check of parsed evidence, and the reason for a refusal if it fails.
///
/// Verification and inspection use the same list of steps: verification stops at the first failure,
/// inspection runs all steps.
struct VerificationStep<Evidence> {
    let reason: AttestationRefusal.Reason
    let check: (Evidence) -> AttestationRefusal?

    init(_ reason: AttestationRefusal.Reason, _ check: @escaping (Evidence) -> AttestationRefusal?) {
        self.reason = reason
        self.check = check
    }
}

/// The result of each step of a verification.
public struct AttestationInspection: Sendable, Hashable {
    public enum Verdict: Sendable, Hashable {
        case passed
        case refused(AttestationRefusal)
        /// The part could not be parsed.
        case notReached
    }

    public struct Step: Sendable, Hashable {
        public let reason: AttestationRefusal.Reason
        public let verdict: Verdict
    }

    /// In the order of the verification; the first is always `format`.
    public let steps: [Step]

    public var isAccepted: Bool { steps.allSatisfy { $0.verdict == .passed } }

    init<Evidence>(
        _ evidence: Result<Evidence, AttestationRefusal>, _ list: [VerificationStep<Evidence>]
    ) {
        switch evidence {
        case .success(let evidence):
            steps =
                [Step(reason: .format, verdict: .passed)]
                + list.map {
                    Step(reason: $0.reason, verdict: $0.check(evidence).map(Verdict.refused) ?? .passed)
                }
        case .failure(let refusal):
            let reasons = [.format] + list.map(\.reason)
            let end = reasons.firstIndex(of: refusal.reason) ?? 0
            steps = reasons.enumerated().map { index, reason in
                let verdict: Verdict =
                    index < end ? .passed : index == end ? .refused(refusal) : .notReached
                return Step(reason: reason, verdict: verdict)
            }
        }
    }
}

extension AttestationPolicy {
    /// Returns the App ID with an RP ID hash.
    func appID(of data: AuthenticatorData) -> AppID? {
        appIDs.first { SHA256.hash(data: Array($0.text.utf8)) == data.rpIDHash }
    }

    func categoryRefusal(of data: AuthenticatorData) -> AttestationRefusal? {
        guard let number = data.category else { return requiresStatements ? .category(.missing) : nil }
        guard let category = ValidationCategory(rawValue: number) else { return .category(.unknown) }
        return categories.contains(category) ? nil : .category(.notAllowed)
    }

    func bundleVersionRefusal(of data: AuthenticatorData) -> AttestationRefusal? {
        guard let version = data.bundleVersion else {
            return requiresStatements ? .bundleVersion(.missing) : nil
        }
        guard let bundleVersions else { return nil }
        return bundleVersions.contains(version) ? nil : .bundleVersion(.notAllowed)
    }
}
