import Formats
import Foundation

extension StoreSimulation {
    mutating func create(
        _ body: RequestBody, _ key: AppStoreConnectSimulator.Key, at now: Date
    ) throws(ErrorDocument) -> String {
        let link = body.attributes["link"]?.stringValue ?? ""
        counters.attempts[link, default: 0] += 1
        let draft = ExperienceDraft(body, changing: nil, &account)
        try check(draft, at: now)
        try checkClip(draft.clipID, key)
        counters.creations[link, default: 0] += 1
        return draft.store(in: &account, at: now)
    }

    mutating func change(
        _ experience: SimulatedExperience, _ body: RequestBody, at now: Date
    ) throws(ErrorDocument) {
        if experience.isFrozen || account.knobs.refusesChanges {
            throw ErrorDocument(.state("The experience can not be changed in its present state"))
        }
        if experience.isInTransfer { throw ErrorDocument(.state("The app is being transferred")) }
        if let removed = body.attributes["removed"]?.boolValue, removed != (experience.removed != nil) {
            guard removed || account.knobs.revives else {
                throw ErrorDocument(.state("A removed experience does not come back"))
            }
            if !removed, account.isTaken(experience.link, exceptBy: experience.id) {
                throw ErrorDocument(.state("There is another experience of the link"))
            }
            var changed = experience
            changed.removed = removed ? now : nil
            account.store(changed, account.texts(of: experience))
            return
        }
        let draft = ExperienceDraft(body, changing: experience, &account)
        try check(draft, at: now)
        _ = draft.store(in: &account, at: now)
    }

    private func check(_ draft: ExperienceDraft, at now: Date) throws(ErrorDocument) {
        let errors = ExperienceRule.all.filter { !$0.isKept(draft, account, now) }.map(\.error)
        guard errors.isEmpty else { throw ErrorDocument(errors) }
    }

    /// Changes an experience as a person on the website would, without checks.
    /// - Returns: Whether the experience exists.
    mutating func edit(_ id: String, _ edit: RemoteEdit, at now: Date) -> Bool {
        guard var experience = account.experiences[id] else { return false }
        var texts = account.texts(of: experience)
        for (key, value) in edit.attributes {
            experience.attributes[key] = value == .null ? nil : value
            if key == "place" { experience.placed = now.addingTimeInterval(advanced) }
        }
        for (key, value) in edit.shown { experience.shown[key] = value }
        for index in texts.indices {
            for (key, value) in texts[index].language.flatMap({ edit.texts[$0] }) ?? [:] {
                texts[index].attributes[key] = value
            }
        }
        if let isFrozen = edit.isFrozen { experience.isFrozen = isFrozen }
        if let isInTransfer = edit.isInTransfer { experience.isInTransfer = isInTransfer }
        if let isRemoved = edit.isRemoved {
            experience.removed = isRemoved ? now.addingTimeInterval(advanced) : nil
        }
        account.store(experience, texts)
        return true
    }
}
