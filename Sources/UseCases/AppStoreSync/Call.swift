import Cards
import Foundation
import Invocation

/// The request that a row of a plan makes at App Store Connect.
struct Call: Sendable {
    let row: SyncPlan.Row
    let kind: Kind
    /// The ID at Apple; nil for a creation.
    let id: String?
    /// The desired content; nil for a removal.
    let content: ExperienceContent?
    let changes: [FieldChange]
    let localizations: [CardLanguage: String]
    /// The content of the catalogue that a stored refusal refers to.
    let desired: ExperienceContent?
    /// Whether an earlier creation without a response exists.
    let wasSentBefore: Bool
    /// At Apple.
    var image: String?
    /// Whether other experiences may use the image too.
    var usesSharedImage = false
    private let url: URLPrefix

    enum Kind: Sendable, Hashable {
        case create
        case update
        case adopt
        case remove
    }

    /// Nil for a row without a request.
    init?(
        _ row: SyncPlan.Row, _ survey: SyncSurvey, known: AppliedExperience?
    ) {
        switch row.step {
        case .create(let content):
            (kind, id, changes, self.content) = (.create, nil, [], content)
        case .update(let id, let changes, let content):
            (kind, self.id, self.changes, self.content) = (.update, id, changes, content)
        case .adopt(let id, let changes, let content):
            (kind, self.id, self.changes, self.content) = (.adopt, id, changes, content)
        case .remove(let id):
            (kind, self.id, changes, content) = (.remove, id, [], nil)
        case .blocked, .unmanaged, .inStep: return nil
        }
        guard let url = survey.desired[row.url]?.url ?? known?.url else { return nil }
        self.row = row
        self.url = url
        localizations = id.flatMap { survey.listing.localizationIDs[$0] } ?? [:]
        desired = survey.desired[row.url]?.content
        wasSentBefore = known != nil && known?.id == nil
    }

    var isCreation: Bool { kind == .create }

    /// The image that must be at Apple first; nil if no image changes.
    var neededImage: ImageDigest? { row.step.neededImage }

    /// The state to record.
    func applied(_ phase: AppliedExperience.Phase, at now: Date) -> AppliedExperience {
        AppliedExperience(url, content ?? ExperienceContent(Card()), phase, sentAt: now)
    }

    /// - Returns: the identifier at Apple.
    func send(
        _ service: any ExperienceService, clip: String, fence: @escaping Fence
    ) async -> Result<String, ServiceFailure> {
        do throws(ServiceFailure) {
            switch (kind, id, content) {
            case (.remove, let id?, _):
                try await service.remove(id, fence: fence)
                return .success(id)
            case (.update, let id?, let content?), (.adopt, let id?, let content?):
                if !changes.isEmpty {
                    try await service.update(
                        id, changes, to: content, localizations: localizations, image: image, fence: fence)
                }
                return .success(id)
            case (_, _, let content?):
                return .success(
                    try await service.create(
                        at: row.url, content, clip: clip, image: image ?? "", fence: fence))
            default:
                throw ServiceFailure(
                    .reject, code: "nothing_to_send", description: "nothing to send")
            }
        } catch {
            return .failure(await confirmed(error, service))
        }
    }

    /// If Apple reports the experience as missing, the request is repeated once. Otherwise Doorstep would count it as lost and
    /// create another.
    private func confirmed(
        _ failure: ServiceFailure, _ service: any ExperienceService
    ) async -> ServiceFailure {
        guard failure.verdict == .gone, let id else { return failure }
        do throws(ServiceFailure) {
            guard try await service.exists(id) else { return failure }
            return ServiceFailure(
                .wait, code: failure.code, source: failure.source, requestID: failure.requestID,
                description: failure.description)
        } catch {
            return error
        }
    }
}

extension SyncPlan.Step {
    var isCreation: Bool {
        if case .create = self { true } else { false }
    }

    var isRemoval: Bool {
        if case .remove = self { true } else { false }
    }

    /// The image that the change needs; nil if no image changes.
    var neededImage: ImageDigest? {
        switch self {
        case .create(let content): content.card.image
        case .update(_, let changes, let content), .adopt(_, let changes, let content):
            changes.contains { $0.path == "image" } ? content.card.image : nil
        case .remove, .blocked, .unmanaged, .inStep: nil
        }
    }
}
