import Administration
import Foundation
import Invocation
import Locations
import Notifications
import Persistence
import PostgreSQL
import PropertyTesting
import Tenancy
import Testing

/// What the database selects, against an index over everything that a tenant has.
@Suite struct CandidateTests {
    private static let clips = ["com.example.A.Clip", "com.example.B.Clip", "com.example.C.Clip"]

    private static func url(_ random: inout SplitMix64, longest: Int) -> String {
        var text = "https://" + random.pick(["a.example", "a.example", "b.example", "appclip.apple.com"])
        for _ in 0..<random.below(longest) {
            text += "/" + random.pick(["x", "y", "X", "", "%2F", "%C3%A9", "id", "a%25b"])
        }
        let items = (0..<random.below(longest)).map { _ in
            random.pick([
                "p=1", "p=2", "q", "r=%22", "r=%5C", "{}", "a,b=NULL", "NULL", "p=\(random.pick(clips))",
            ])
        }
        return text + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    }

    private static func experiences(_ random: inout SplitMix64) -> [ExperienceRecord] {
        var records: [String: ExperienceRecord] = [:]
        var defaults: Set<String> = []
        for number in 0..<600 {
            let clip = random.pick(clips)
            let kind: ExperienceKind = number % 4 == 0 ? .demo : number % 7 == 0 ? .default : .advanced
            let url = url(&random, longest: 4)
            guard let record = try? ExperienceRecord.sample(url, kind: kind, clip: clip),
                kind != .default || defaults.insert(clip).inserted
            else { continue }
            records["\(kind) \(record.experience.url)"] = record
        }
        return Array(records.values)
    }

    private static func invocations(_ random: inout SplitMix64, count: Int) throws -> [InvocationURL] {
        try (0..<count).map { number in
            switch number % 10 {
            case 0: try InvocationURL("https://appclip.apple.com/id?p=\(random.pick(clips))&q")
            case 1:
                try InvocationURL(
                    random.pick([
                        "http://a.example/x", "https://a.example:444", "https://127.0.0.1/x",
                        "https://c.example",
                    ]))
            default: try InvocationURL(url(&random, longest: 7))
            }
        }
    }

    @Test func areAmongThemTheMostSpecificOfAll() async throws {
        var random = SplitMix64(seed: 4)
        let records = Self.experiences(&random)
        let invocations = try Self.invocations(&random, count: 2_500)
        let index = ExperienceIndex(records.map(\.experience))
        try await Stores.withTenant { stores, tenant in
            // The other tenant has the same URLs for a clip of its own, which must never be found.
            let other = try await stores.createTenant("other")
            try await stores.createClip("com.example.Foreign.Clip", of: other)
            let foreign = try records.filter { $0.experience.kind == .advanced }.map { record in
                try ExperienceRecord.sample(
                    record.experience.url.canonical, clip: "com.example.Foreign.Clip")
            }
            try await stores.importExperiences(foreign, of: other)
            for clip in Self.clips {
                try await stores.createClip(clip, multiBusiness: clip == Self.clips[0], of: tenant)
            }
            try await stores.importExperiences(records, of: tenant)

            let matched = try await withThrowingTaskGroup(of: Int.self) { group in
                for part in 0..<4 {
                    group.addTask {
                        var matched = 0
                        for number in stride(from: part, to: invocations.count, by: 4) {
                            let invocation = invocations[number]
                            let candidates = try await stores.experiences.experiences(
                                near: invocation, of: tenant)
                            let selected = ExperienceIndex(candidates.map(\.experience))
                            for kinds in [Set(ExperienceKind.allCases), [.advanced], [.default, .demo]] {
                                let found = selected.mostSpecific(for: invocation, among: kinds)
                                let expected = index.mostSpecific(for: invocation, among: kinds)
                                guard found == expected else {
                                    Issue.record("\(invocation.canonical)")
                                    return matched
                                }
                                if kinds.count == 3, found != nil { matched += 1 }
                            }
                            // No more than what matches, and a default link's default experience.
                            let link = DefaultLink(invocation)?.clip
                            for candidate in candidates {
                                let experience = candidate.experience
                                let isDefault = experience.kind == .default && experience.clip == link
                                if !experience.url.matches(invocation), !isDefault {
                                    Issue.record("\(experience.url) is not near \(invocation.canonical)")
                                }
                                if candidate.clipIsMultiBusiness != (experience.clip.text == Self.clips[0]) {
                                    Issue.record("\(experience.clip)")
                                }
                            }
                        }
                        return matched
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect((800...2_300).contains(matched), "\(matched)")
        }
    }

    /// The other store reads through the same statement.
    @Test func theCatalogueHasTheSame() async throws {
        var random = SplitMix64(seed: 5)
        let records = Self.experiences(&random)
        let invocations = try Self.invocations(&random, count: 300)
        try await Stores.withTenant { stores, tenant in
            for clip in Self.clips { try await stores.createClip(clip, of: tenant) }
            try await stores.importExperiences(records, of: tenant)
            try await stores.locations.withCatalogue(of: tenant) { catalogue in
                for invocation in invocations {
                    let near = try await catalogue.experiences(near: invocation)
                    let same = try await stores.experiences.experiences(near: invocation, of: tenant)
                    #expect(Set(near) == Set(same.map(\.experience)))
                }
            }
        }
    }
}
