public import Foundation
public import Invocation
public import Lookups

/// A tenant's claim to a domain, with the state of its proof.
public struct DomainRecord: Sendable, Hashable {
    public let name: DomainName
    /// The text that only the domain's owner can publish there.
    public let challenge: String
    public let claimedAt: Date
    public internal(set) var proof: Proof?
    /// The time of the last check that got a response.
    public internal(set) var checkedAt: Date?
    /// Since when a proof is missing that was found before.
    public internal(set) var lapsedAt: Date?
    /// For a claim that is not proved: since when its proof is found although another tenant holds the domain. For a proved
    /// domain: since when another tenant's claim is in this state.
    public internal(set) var contestedAt: Date?
    /// The content that is merged into the domain's association file.
    public internal(set) var content: AssociationContent?
    /// Whether landing pages are shown at the domain while it is proved.
    public internal(set) var pages: DomainPages

    public struct Proof: Sendable, Hashable {
        public let method: ProofMethod
        public let provedAt: Date

        public init(method: ProofMethod, provedAt: Date) {
            self.method = method
            self.provedAt = provedAt
        }
    }

    public init(
        name: DomainName, challenge: String, claimedAt: Date, proof: Proof? = nil, checkedAt: Date? = nil,
        lapsedAt: Date? = nil, contestedAt: Date? = nil, content: AssociationContent? = nil,
        pages: DomainPages = .off
    ) {
        self.name = name
        self.challenge = challenge
        self.claimedAt = claimedAt
        self.proof = proof
        self.checkedAt = checkedAt
        self.lapsedAt = lapsedAt
        self.contestedAt = contestedAt
        self.content = content
        self.pages = pages
    }

    public enum Status: String, Sendable {
        /// Not proved yet.
        case claimed
        case proved
        /// Proved, but the proof was missing at the last check. The domain is served until the end of the grace period.
        case lapsed
        /// No longer proved: a check after the grace period did not find the proof.
        case withdrawn
    }

    public var status: Status {
        switch (proof, lapsedAt) {
        case (nil, nil): .claimed
        case (_?, nil): .proved
        case (_?, _?): .lapsed
        case (nil, _?): .withdrawn
        }
    }

    /// The grace period: how long the domain is served after a lapse. A week, in case the proof was removed by mistake. [ours]
    public static let grace: TimeInterval = 7 * 86_400

    /// The time from which a check withdraws a proof that is still missing.
    public var withdrawnFrom: Date? {
        status == .lapsed ? lapsedAt?.addingTimeInterval(Self.grace) : nil
    }
}

extension DomainRecord {
    /// The claim with other content; nil for no content.
    public func with(_ content: AssociationContent?) -> DomainRecord {
        var record = self
        record.content = content
        return record
    }

    /// The claim with another setting of landing pages.
    public func showing(_ pages: DomainPages) -> DomainRecord {
        var record = self
        record.pages = pages
        return record
    }

    /// The claim after a proof was found. This ends a lapse.
    public func proved(by method: ProofMethod, at now: Date) -> DomainRecord {
        var record = self
        if proof == nil { record.contestedAt = nil }
        record.proof = Proof(method: method, provedAt: proof?.provedAt ?? now)
        (record.checkedAt, record.lapsedAt) = (now, nil)
        return record
    }

    /// The claim after its proof was not found: lapsed from now on, or withdrawn after the grace period.
    public func lapsed(at now: Date) -> DomainRecord {
        var record = self
        if let withdrawnFrom, withdrawnFrom <= now { (record.proof, record.contestedAt) = (nil, nil) }
        (record.checkedAt, record.lapsedAt) = (now, lapsedAt ?? now)
        return record
    }

    /// The claim after its proof was found although another tenant holds the domain.
    public func contesting(at now: Date) -> DomainRecord {
        var record = self
        (record.checkedAt, record.contestedAt) = (now, contestedAt ?? now)
        return record
    }
}

/// How a domain is proved.
public enum ProofMethod: String, Sendable, Hashable, CaseIterable {
    /// A TXT record under `_doorstep-challenge`.
    case dns
    /// A file under `/.well-known`.
    case file
}

extension DomainRecord {
    /// The name of the TXT record that proves the domain.
    public var recordName: String { "_doorstep-challenge.\(name.text)" }

    /// The value of the TXT record.
    public var recordValue: String { "doorstep-verification=\(challenge)" }

    /// The URL of the file that proves the domain. The file contains the challenge.
    public var fileURL: String { "https://\(name.text)\(Self.filePath)" }

    public static let filePath = "/.well-known/doorstep-verification"

    /// A text that cannot be guessed: 32 letters and digits, 165 bits.
    public static func makeChallenge() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<32).map { _ in letters[Int.random(in: letters.indices)] })
    }
}
