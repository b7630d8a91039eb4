public import AppSiteAssociation
public import Foundation
public import Lookups

/// A tenant's claim to a domain, and how far it is proved.
public struct DomainRecord: Sendable, Hashable {
    public let name: DomainName
    /// The text that only the domain's owner can publish there.
    public let challenge: String
    public let claimedAt: Date
    public internal(set) var proof: Proof?
    /// The time of the last check that got a response.
    public internal(set) var checkedAt: Date?
    /// Since when a proof that was there is missing.
    public internal(set) var lapsedAt: Date?
    /// On a claim without a proof: since when its proof is found although another tenant holds the domain. On a proved
    /// domain: since when another tenant's claim is in that state.
    public internal(set) var contestedAt: Date?
    /// The content that is merged into the domain's association file.
    public internal(set) var content: AssociationContent?
    /// Whether pages are shown there once it is proved.
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
        /// Proved, but the proof was missing at the last check: still served, until the time of grace is over.
        case lapsed
        /// No longer proved: the time of grace was over at a check.
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

    /// For how long after a lapse the domain is served: a week, for a proof that was removed by mistake. [ours]
    public static let grace: TimeInterval = 7 * 86_400

    /// The first moment at which a check withdraws a proof that is still missing.
    public var withdrawnFrom: Date? {
        status == .lapsed ? lapsedAt?.addingTimeInterval(Self.grace) : nil
    }
}

extension DomainRecord {
    /// The claim with other content, or with none.
    public func with(_ content: AssociationContent?) -> DomainRecord {
        var record = self
        record.content = content
        return record
    }

    /// The claim with pages shown, or not.
    public func showing(_ pages: DomainPages) -> DomainRecord {
        var record = self
        record.pages = pages
        return record
    }

    /// The claim once a proof was found, which ends a lapse.
    public func proved(by method: ProofMethod, at now: Date) -> DomainRecord {
        var record = self
        if proof == nil { record.contestedAt = nil }
        record.proof = Proof(method: method, provedAt: proof?.provedAt ?? now)
        (record.checkedAt, record.lapsedAt) = (now, nil)
        return record
    }

    /// The claim once its proof is gone: lapsed from now on, or withdrawn once it has lapsed for the time of grace.
    public func lapsed(at now: Date) -> DomainRecord {
        var record = self
        if let withdrawnFrom, withdrawnFrom <= now { (record.proof, record.contestedAt) = (nil, nil) }
        (record.checkedAt, record.lapsedAt) = (now, lapsedAt ?? now)
        return record
    }

    /// The claim once its proof was found although another tenant holds the domain.
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

    /// Where the file is that proves the domain; it holds the challenge.
    public var fileURL: String { "https://\(name.text)\(Self.filePath)" }

    public static let filePath = "/.well-known/doorstep-verification"

    /// A text that cannot be guessed: 32 letters and digits, 165 bits.
    public static func makeChallenge() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<32).map { _ in letters[Int.random(in: letters.indices)] })
    }
}
