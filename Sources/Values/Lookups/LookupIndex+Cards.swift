import Invocation

extension LookupIndex {
    /// The links on pages to a clip's app; nil if a link is not configured.
    struct ClipLinks: Sendable {
        let appStoreID: String?
        let androidURL: String?
        let siteName: String?

        /// Nil if no link is configured.
        init?(appStoreID: String?, androidURL: String?, siteName: String?) {
            guard appStoreID != nil || androidURL != nil || siteName != nil else { return nil }
            self.appStoreID = appStoreID
            self.androidURL = androidURL
            self.siteName = siteName
        }
    }

    /// Returns the card of a location or an experience.
    ///
    /// - Parameter namespace: The namespace of cards.
    func card(_ namespace: Namespace, _ tenant: TenantIndex, _ name: Span<UInt8>) -> PackedCard {
        guard cards.count > 0 else { return .none }
        return cards.first(hash(namespace, tenant, name)) { header, text, _ in
            Self.isName(name, of: header, text, namespace, tenant)
                ? PackedCard(bytes: Array(copying: text.extracting(name.count..<text.count))) : nil
        } ?? .none
    }

    mutating func setCard(
        _ card: PackedCard, _ namespace: Namespace, _ tenant: TenantIndex, _ name: Span<UInt8>,
        isNew: Bool = false
    ) {
        guard cards.count > 0 || !card.isEmpty else { return }
        let hash = hash(namespace, tenant, name)
        if !isNew {
            cards.remove(hash) { Self.isName(name, of: $0, $1, namespace, tenant) }
        }
        guard !card.isEmpty, name.count <= Int(UInt16.max) else { return }
        cards.insert(
            hash, CardHeader(tenant: tenant, nameLength: UInt16(name.count), namespace: namespace), name,
            card.bytes.span)
    }

    mutating func removeCards(of tenant: TenantIndex, where isMeant: (Namespace) -> Bool) {
        guard cards.count > 0 else { return }
        cards.removeAll { header, _ in header.tenant == tenant && isMeant(header.namespace) }
    }

    private static func isName(
        _ name: Span<UInt8>, of header: CardHeader, _ text: Span<UInt8>, _ namespace: Namespace,
        _ tenant: TenantIndex
    ) -> Bool {
        header.tenant == tenant && header.namespace == namespace && Int(header.nameLength) == name.count
            && text.extracting(0..<name.count).isEqual(to: name)
    }
}

extension ExperienceKind {
    /// The namespace of the cards of experiences of this kind.
    var cardNamespace: LookupIndex.Namespace {
        switch self {
        case .advanced: .advancedCard
        case .default: .defaultCard
        case .demo: .demoCard
        }
    }
}
