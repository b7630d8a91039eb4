import Administration
import AppStoreSync
import Formats
import Foundation
import Invocation
import Lookups
import Notifications
import Tenancy

/// The destination of an invocation URL, and the launches that lead there, in points like iOS's App Clip diagnostics.
struct Diagnosis {
    /// The URL as the caller wrote it.
    let text: String
    let verdict: DiagnosisVerdict
    /// Failed points first, then in the order of an invocation.
    let checks: [DiagnosisCheck]

    init(_ refusal: InvocationURLError, text: String) {
        self.text = text
        verdict = .noLocation(reason: refusal.code, "\(refusal)", nearest: nil)
        checks = [.failed(.url, refusal.code, nil, "\(refusal)")]
    }

    /// - Parameter text: The URL as the caller wrote it.
    init(_ url: InvocationURL, text: String, _ evidence: Evidence) {
        self.text = text
        guard url.isMatchable else {
            let detail = "only https URLs with a domain name and without a port match experiences"
            verdict = .noLocation(reason: "unmatchable_url", detail, nearest: nil)
            checks = [.failed(.url, "unmatchable_url", url.canonical, detail)]
            return
        }
        var checks: [DiagnosisCheck] = [
            .ok(.url, url.canonical, text == url.canonical ? "already canonical" : "made canonical")
        ]
        let match = evidence.match
        let chosen = match?.experience
        checks.append(Self.experience(match))
        checks.append(Self.next(url, evidence))
        let lookup = match.map { evidence.table.lookUp(url, by: $0) } ?? .doesNotMatch
        var location: DiagnosisCheck?
        if let match {
            location = Self.location(lookup, match, match.experience.readIdentifier(in: url, by: match))
        }
        if let location { checks.append(location) }
        let association = Self.association(url.host, chosen, evidence)
        checks.append(Self.domain(url.host, evidence.domain))
        checks.append(Self.advanced(url, evidence))
        checks.append(Self.published(chosen?.clip.text, evidence.registration))
        checks.append(association)
        var cache: DiagnosisCheck?
        if let registration = evidence.registration, url.host != DefaultLink.host {
            cache = Self.appleCache(url.host, registration)
        }
        if let cache { checks.append(cache) }
        let code = try? AppClipCodeURL(text)
        if let code { checks += Self.code(code) }
        let banner = Self.banner(url.host, chosen, evidence.site)
        checks.append(banner)
        let isAssociated = AssociationEvidence(association, appleCache: cache)
        if let chosen {
            let conditions = LaunchConditions(
                url: url, kind: LaunchURL(url, kind: chosen.kind), code: code, association: isAssociated,
                banner: evidence.site == nil ? nil : banner)
            checks += LaunchMethod.allCases.map(conditions.check)
        }
        checks.append(Self.payload(url, evidence))
        self.checks = checks.filter { $0.status == .failed } + checks.filter { $0.status != .failed }
        guard let found = lookup.location else {
            let failure = location ?? checks[1]
            let isTypo = chosen == nil || location?.reason == "no_identifier"
            verdict = .noLocation(
                reason: lookup.reason ?? "", failure.detail,
                nearest: isTypo ? evidence.table.nearestExperience(to: url, otherThan: chosen?.url)?.url : nil
            )
            return
        }
        verdict = .location(found, isAssociated)
    }

    var json: JSONObject {
        [
            "url": .string(text), "ok": .bool(verdict.isWell), "verdict": .object(verdict.json),
            "checks": .array(checks.map { .object($0.json) }),
        ]
    }

    // MARK: - Points

    private static func experience(_ match: TenantTable.Match?) -> DiagnosisCheck {
        guard let match else {
            return .failed(.experience, "does_not_match", nil, "no registered URL is a prefix of this one")
        }
        let chosen = match.experience
        if match.isUnregistered {
            return .warning(
                .experience, CatalogueFinding.Code.missingDefaultExperience.rawValue, chosen.url,
                "the clip \(chosen.clip) has no default experience, which every clip needs")
        }
        let link = match.isByDefaultLink ? ", by the clip's default link" : ""
        return .ok(.experience, chosen.url, "\(chosen.kind.rawValue), of \(chosen.clip)\(link)")
    }

    /// The experience that the URL itself identifies: a default link leads to one experience.
    private static func next(_ url: InvocationURL, _ evidence: Evidence) -> DiagnosisCheck {
        guard let match = evidence.match, !match.isByDefaultLink,
            let next = evidence.table.match(url, otherThan: match), !next.isByDefaultLink
        else { return .ok(.next, nil, "no other experience matches") }
        let experience = next.experience
        return .ok(.next, experience.url, "\(experience.kind.rawValue), of \(experience.clip)")
    }

    private static func location(
        _ lookup: Lookup, _ match: TenantTable.Match, _ reading: IdentifierReading
    ) -> DiagnosisCheck {
        let chosen = match.experience
        let how = reading.text(by: chosen.binding)
        switch lookup {
        case .found(_, let location):
            return .ok(
                .location, location.identifier.text,
                [location.name, how].compactMap(\.self).joined(separator: "; "))
        case .noIdentifier where match.isUnregistered:
            return .failed(
                .location, "no_identifier", nil,
                "the clip \(chosen.clip) has no default experience to which its default link could lead")
        case .noIdentifier where chosen.binding == .unbound:
            return .failed(
                .location, "no_identifier", nil,
                "the experience \(chosen.url) has neither a location nor an identifier rule")
        case .noIdentifier:
            return .failed(.location, "no_identifier", nil, how)
        case .unknownIdentifier, .shortCodeAgain, .doesNotMatch:
            return .failed(.location, "unknown_identifier", nil, "\(how), and that leads to no location")
        }
    }

    /// Whether the site's association file names the clip. The file is the site's if it was fetched, otherwise Doorstep's.
    private static func association(
        _ host: String, _ chosen: IndexedExperience?, _ evidence: Evidence
    ) -> DiagnosisCheck {
        if host == DefaultLink.host {
            return .ok(.association, nil, "Apple's own links need no association file")
        }
        guard let chosen else {
            return .unknown(.association, "does_not_match", nil, "no experience matches, so no clip is known")
        }
        guard let clip = evidence.clip else {
            return .failed(
                .association, "missing_clip", chosen.clip.text, "no clip of the tenant has this bundle ID")
        }
        if let check = evidence.site?.association {
            func reasons(_ verdict: SiteCheck.Verdict) -> String {
                check.findings.filter { $0.verdict == verdict }
                    .map { "\($0.point.rawValue): \($0.detail)" }.joined(separator: "; ")
            }
            if check.hasFailed {
                return .failed(.association, "not_associated", clip.appID.text, reasons(.failed))
            }
            if check.findings.contains(where: { $0.verdict == .unknown }) {
                return .unknown(.association, "not_known", clip.appID.text, reasons(.unknown))
            }
            return .ok(.association, clip.appID.text, "in the association file that the site serves")
        }
        guard evidence.domain?.proof != nil else {
            return .unknown(
                .association, "not_asked", clip.appID.text,
                "Doorstep serves no association file for \(host), because the tenant has not "
                    + (evidence.domain == nil ? "claimed" : "proved") + " it; use --live to check the site")
        }
        return .ok(
            .association, clip.appID.text, "in the association file that Doorstep serves for the domain")
    }

    /// Whether the clip is on the App Store. If it is not, this is a warning, because testers can launch it.
    private static func published(_ clip: String?, _ registration: LatestCheck?) -> DiagnosisCheck {
        guard let registration else {
            return .unknown(
                .published, "known_to_apple", clip,
                "unknown, because the clip is not connected to App Store Connect")
        }
        guard let time = registration.checkedAt.flatMap({ JSONValue($0).stringValue }) else {
            return .unknown(.published, "not_known", clip, "App Store Connect has not been checked yet")
        }
        guard let release = registration.release else {
            return .unknown(
                .published, "not_known", clip,
                "unknown at the check of \(time): the key has no access to builds and versions")
        }
        let detail = "\(release.text), according to App Store Connect at \(time)"
        return switch release.isPublished {
        case true?: .ok(.published, clip, detail)
        case false?: .warning(.published, "not_published", clip, detail)
        case nil: .unknown(.published, "not_known", clip, detail)
        }
    }

    /// Whether Apple's cache serves the site's association file to devices.
    private static func appleCache(_ host: String, _ registration: LatestCheck) -> DiagnosisCheck {
        let time = registration.checkedAt.flatMap { JSONValue($0).stringValue }
        guard let time, let domain = registration.domain(host) else {
            return .unknown(
                .appleCache, "not_known", host,
                time.map {
                    registration.knowsDomains
                        ? "App Store Connect did not list the site at the check of \($0)"
                        : "unknown at the check of \($0): no build exists, or the key has no access to builds"
                } ?? "App Store Connect has not been checked yet")
        }
        let updated = domain.updatedAt.map { ", of \($0)" } ?? ""
        guard domain.isValid else {
            // The file may have been corrected since.
            return .warning(
                .appleCache, "not_valid", domain.errorCode ?? host,
                "Apple's cache has no valid association file of the site\(updated), according to App Store Connect at \(time)"
            )
        }
        return .ok(
            .appleCache, host,
            "Apple's cache has the site's association file\(updated), according to App Store Connect at \(time)"
        )
    }

    private static func advanced(_ url: InvocationURL, _ evidence: Evidence) -> DiagnosisCheck {
        let best = evidence.table.match(url, preferringAdvanced: true)?.experience
        if let best, best.kind == .advanced {
            return .ok(.advancedExperience, best.url, "in the catalogue for \(best.clip)")
        }
        guard let match = evidence.match else {
            return .no(.advancedExperience, "not_registered", nil, "no experience matches")
        }
        return .no(
            .advancedExperience, "not_registered", match.experience.url,
            match.experience.kind == .default
                ? "none matches: on iOS 16.3 and earlier, a default experience works only from websites and Messages; a physical "
                    + "location, or one of several businesses, needs an advanced experience"
                : "none matches: a physical location, or one of several businesses, needs an advanced experience"
        )
    }

    /// The page's tag, if the site was fetched.
    private static func banner(
        _ host: String, _ chosen: IndexedExperience?, _ site: LiveSite?
    ) -> DiagnosisCheck {
        if host == DefaultLink.host {
            return .no(.smartAppBanner, "apple_host", nil, "Apple's own links have no website of the tenant")
        }
        guard let site else {
            return .unknown(
                .smartAppBanner, "not_asked", nil,
                "use --live to check the page; the URL must match an experience, or its domain must be claimed"
            )
        }
        switch site.page {
        case .failure(let error):
            return .unknown(.smartAppBanner, "no_answer", nil, "the page did not respond: \(error)")
        case .success(let page) where page.status != 200:
            return .unknown(.smartAppBanner, "status", nil, "the page has status \(page.status)")
        case .success(let page):
            guard let banner = SmartAppBanner(inPage: page.body) else {
                let part =
                    page.isCutOff ? "the first \(page.body.count) bytes of the page have" : "the page has"
                return .no(.smartAppBanner, "no_banner", nil, "\(part) no apple-itunes-app tag")
            }
            guard let clip = banner.clip, let app = banner.appID else {
                let lack = banner.clip == nil ? "app-clip-bundle-id" : "app-id"
                return .warning(
                    .smartAppBanner, "incomplete", nil, "the page's apple-itunes-app tag has no \(lack)")
            }
            guard clip == chosen?.clip.text else {
                return .warning(
                    .smartAppBanner, "other_clip", String(clip.prefix(155)).debugDescription,
                    "the page's apple-itunes-app tag names another clip")
            }
            return .ok(
                .smartAppBanner, clip,
                "in the page's apple-itunes-app tag, of the app \(String(app.prefix(32)).debugDescription)")
        }
    }

    private static func domain(_ host: String, _ domain: DomainRecord?) -> DiagnosisCheck {
        if host == DefaultLink.host { return .ok(.domain, host, "Apple's own, for default and demo links") }
        guard let domain, let proof = domain.proof else {
            let (reason, detail) =
                domain == nil
                ? ("not_claimed", "the tenant has not claimed the domain")
                : ("not_proved", "the tenant has claimed the domain but not proved it")
            // Another server may serve the site correctly.
            return .warning(.domain, reason, host, detail)
        }
        let proved = "proved at \(JSONValue(proof.provedAt).stringValue ?? "")"
        guard let lapsedAt = domain.lapsedAt else { return .ok(.domain, host, proved) }
        let lapsed = "the proof has been missing since \(JSONValue(lapsedAt).stringValue ?? "")"
        return .warning(.domain, "lapsed", host, "\(proved); \(lapsed)")
    }

    private static func code(_ url: AppClipCodeURL) -> [DiagnosisCheck] {
        let check: DiagnosisCheck =
            switch url.fit {
            case .refused:
                .warning(
                    .code, "code_unfit", nil,
                    "cannot be in an App Clip Code: \(url.refusals.map(\.rawValue).joined(separator: ", "))")
            case .fits: .ok(.code, nil, url.sizeText)
            case .tooLong: .warning(.code, "code_too_long", nil, url.sizeText)
            case .unknown:
                .unknown(.code, "code_size_unknown", nil, "\(url.sizeText); only Apple's generator knows")
            }
        var checks = [check]
        if url.fit != .refused, url.hasLeadingZeros {
            checks.append(
                .warning(
                    .code, "leading_zeros", nil,
                    "a code may drop leading zeros, so that it reads as another URL"))
        }
        return checks
            + url.advice.map {
                .ok(.advice, $0.better, "saves about \($0.savedBits) bits by \($0.code.rawValue)")
            }
    }

    private static func payload(_ url: InvocationURL, _ evidence: Evidence) -> DiagnosisCheck {
        let request = NotificationRequest(url: url, aps: ["alert": "diagnosis"])
        do throws(CompositionRefusal) {
            let notification = try NotificationComposer().compose(
                request, in: evidence.table, at: .distantPast)
            let experience = notification.experience
            guard let target = notification.target else {
                return .ok(
                    .payload, nil,
                    "no target-content-id, because the clip serves one business; matches \(experience.url)"
                )
            }
            return .ok(.payload, target, "target-content-id; matches \(experience.url)")
        } catch {
            guard case .notBusinessSpecific(_, let register?) = error else {
                return .warning(.payload, error.code, nil, "\(error)")
            }
            return .warning(.payload, error.code, nil, "\(error): \(register)")
        }
    }
}

extension IdentifierReading {
    /// The origin of the location, in words.
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
        case .place: "\(rule) reads coordinates, which must be signed"
        }
    }
}
