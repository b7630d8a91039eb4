import Administration
import Foundation
import Invocation
import JSON
import Locations
import Notifications
import Routing
import Tenancy

/// What becomes of an invocation URL, point by point, as iOS's App Clip diagnostics tell it of a device.
struct Diagnosis {
    private(set) var checks: [DiagnosisCheck] = []

    /// Whether an invocation with the URL reaches its business.
    var isWell: Bool { checks.allSatisfy { $0.status != .failed } }

    /// What is known of the tenant that bears on the URL.
    struct Evidence {
        let tenant: TenantID
        let table: RoutingTable
        /// Those that match the URL.
        let experiences: [Experience]
        let clips: [Clip]
        let domains: [DomainRecord]
        let directory: LocationDirectory
    }

    init(_ refusal: InvocationURLError) {
        checks = [.failed(.url, refusal.code, nil, "\(refusal)")]
    }

    /// - Parameter text: the URL as it was given, and as it would be encoded.
    init(_ url: InvocationURL, text: String, _ evidence: Evidence) {
        guard url.isMatchable else {
            checks = [
                .failed(
                    .url, "unmatchable_url", url.canonical,
                    "only https with a domain name for a host, and without a port, matches an experience")
            ]
            return
        }
        checks = [.ok(.url, url.canonical, text == url.canonical ? "canonical as it is" : "made canonical")]
        let match = evidence.table.match(url, of: evidence.tenant)
        let chosen = match.map { evidence.table.experience($0) }
        checks.append(Self.experience(chosen, byDefaultLink: match?.isByDefaultLink == true))
        checks.append(Self.next(evidence.experiences, after: chosen))
        if let match, let chosen {
            checks.append(Self.location(url, chosen, chosen.readIdentifier(in: url, by: match), evidence))
        }
        let domain = evidence.domains.first { $0.name.text == url.host }
        checks.append(Self.domain(url.host, domain))
        if let chosen, domain?.proof != nil { checks.append(Self.association(chosen, evidence.clips)) }
        if let code = try? AppClipCodeURL(text) { checks += Self.code(code) }
        checks.append(Self.payload(url, evidence))
    }

    // MARK: - Points

    private static func experience(_ chosen: RoutedExperience?, byDefaultLink: Bool) -> DiagnosisCheck {
        guard let chosen else {
            return .failed(.experience, "does_not_match", nil, "no registered URL is a prefix of this one")
        }
        let link = byDefaultLink ? ", by the clip's default link" : ""
        return .ok(.experience, chosen.url, "\(chosen.kind.rawValue), of \(chosen.clip)\(link)")
    }

    private static func next(_ experiences: [Experience], after chosen: RoutedExperience?) -> DiagnosisCheck {
        let next = experiences.sorted { $0.precedes($1) }.first { experience in
            experience.url.canonical != chosen?.url || experience.kind != chosen?.kind
        }
        guard let next else { return .ok(.next, nil, "no other experience matches") }
        return .ok(.next, next.url.canonical, "\(next.kind.rawValue), of \(next.clip)")
    }

    private static func location(
        _ url: InvocationURL, _ chosen: RoutedExperience, _ reading: IdentifierReading, _ evidence: Evidence
    ) -> DiagnosisCheck {
        let how = reading.text(by: chosen.binding)
        switch evidence.directory.lookUp(url, of: evidence.tenant, in: evidence.table) {
        case .found(_, let location):
            return .ok(
                .location, location.identifier.text,
                [location.name, how].compactMap(\.self).joined(separator: "; "))
        case .noIdentifier where chosen.binding == .unbound:
            return .warning(
                .location, "no_identifier", nil,
                "the experience is for no one place: it has neither location nor rule")
        case .noIdentifier:
            return .failed(.location, "no_identifier", nil, how)
        case .unknownIdentifier, .doesNotMatch:
            return .failed(.location, "unknown_identifier", nil, "\(how), and that leads to no location")
        }
    }

    /// Of a proved domain; `doorstep domain check` asks the live site, which may be another one.
    private static func association(_ chosen: RoutedExperience, _ clips: [Clip]) -> DiagnosisCheck {
        guard let clip = clips.first(where: { $0.bundleID == chosen.clip }) else {
            return .failed(
                .association, "missing_clip", chosen.clip.text, "no clip of the tenant has this bundle ID")
        }
        return .ok(
            .association, "\(clip.teamID.text).\(clip.bundleID.text)",
            "in the association file that Doorstep serves for the domain")
    }

    private static func domain(_ host: String, _ domain: DomainRecord?) -> DiagnosisCheck {
        if host == DefaultLink.host { return .ok(.domain, host, "Apple's own, for default and demo links") }
        guard let domain else {
            return .failed(.domain, "not_claimed", host, "the tenant has not claimed the host")
        }
        guard let proof = domain.proof else {
            return .failed(.domain, "not_proved", host, "the tenant has claimed the host, and not proved it")
        }
        let proved = "proved at \(JSONValue(proof.provedAt).stringValue ?? "")"
        guard let lapsedAt = domain.lapsedAt else { return .ok(.domain, host, proved) }
        let lapsed = "the proof is missing since \(JSONValue(lapsedAt).stringValue ?? "")"
        return .warning(.domain, "lapsed", host, "\(proved); \(lapsed)")
    }

    private static func code(_ url: AppClipCodeURL) -> [DiagnosisCheck] {
        guard url.fit != .refused else {
            let refusals = url.refusals.map(\.rawValue).joined(separator: ", ")
            return [.warning(.code, "code_unfit", nil, "cannot be in an App Clip Code: \(refusals)")]
        }
        return [.ok(.code, url.fit.rawValue, "only Apple's generator knows whether it fits")]
            + url.advice.map { .ok(.advice, $0.better, "likelier to fit by \($0.code.rawValue)") }
    }

    private static func payload(_ url: InvocationURL, _ evidence: Evidence) -> DiagnosisCheck {
        let request = NotificationRequest(url: url, aps: ["alert": "diagnosis"])
        let composed = NotificationComposer().compose(
            request, of: evidence.tenant, in: evidence.table, at: .distantPast)
        switch composed {
        case .composed(let notification):
            let experience = notification.experience
            guard let target = notification.target else {
                return .ok(
                    .payload, nil,
                    "goes without target-content-id, which a clip of one business does not need; matches \(experience.url)"
                )
            }
            return .ok(.payload, target, "is the target-content-id; matches \(experience.url)")
        case .refused(.notBusinessSpecific(let matched, let register?)):
            return .warning(
                .payload, "not_business_specific", nil,
                "\(CompositionRefusal.notBusinessSpecific(matched: matched, register: register)): \(register)"
            )
        case .refused(let refusal):
            return .warning(.payload, refusal.code, nil, "\(refusal)")
        }
    }
}

extension IdentifierReading {
    /// How the location is known, in words.
    fileprivate func text(by binding: LocationBinding) -> String {
        let rule: String
        switch binding {
        case .unbound: return "neither location nor rule"
        case .location: return "the experience is bound to it"
        case .rule(let bound): rule = bound.description
        }
        return switch self {
        case .absent: "\(rule) finds nothing in the URL"
        case .identifier(let identifier): "\(rule) reads '\(identifier)'"
        case .shortCode(let code): "\(rule) reads the short code '\(code)'"
        case .place: "\(rule) reads the place itself, which must be signed"
        }
    }
}
