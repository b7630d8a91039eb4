import AppStoreSync
import Cards
import Formats
import Testing

struct FieldChangeTests {
    /// Each of the three sides has one of two texts, or no text if that is allowed.
    @Test(
        arguments: [
            ("A", "A", "A", nil), ("A", "B", "A", nil),
            ("A", nil, "A", nil), ("A", nil, "B", FieldChange.Cause.intended), ("A", nil, nil, .intended),
            ("A", "B", "B", .intended), ("A", "A", "B", .drift), ("A", "A", nil, .drift),
            ("A", "B", "C", .conflict), ("A", "B", nil, .conflict),
            (nil, "A", "A", nil), (nil, "A", "B", nil), (nil, nil, "B", nil),
        ] as [(String?, String?, String?, FieldChange.Cause?)])
    func threeWayComparisonFindsCause(
        desired: String?, applied: String?, remote: String?, cause: FieldChange.Cause?
    ) throws {
        let contents = try [desired, applied, remote].map { try Registrations.content(subtitle: $0) }
        let plan = try Registrations.plan(
            [try Registrations.desired("a", contents[0])],
            [try Registrations.created("a", contents[1], id: "1")],
            [Registrations.remote("a", contents[2], id: "1")])
        guard let cause else {
            #expect(plan.step("a") == .inStep)
            return
        }
        guard case .update("1", let changes, let sent)? = plan.step("a") else {
            Issue.record("no update: \(plan.rows)")
            return
        }
        #expect(changes.map(\.path) == ["texts.EN.subtitle"])
        #expect(changes.first?.old == remote.map(JSONValue.string))
        #expect(changes.first?.new == desired.map(JSONValue.string))
        #expect(changes.first?.cause == cause)
        #expect(sent.card.texts[.english]?.subtitle == desired)
    }

    /// An emptied column, and a language and a place that the catalogue does not name, stay at Apple.
    @Test func unspecifiedFieldsStayAtApple() throws {
        let said = try Registrations.content("New")
        var before = try Registrations.content("Old", action: .play, subtitle: "Here")
        before.card.texts[.french] = try CardText(title: "Ancien")
        before.card.businessCategory = .music
        var place = Place()
        place.names = ["Maps calls it so"]
        place.address = Place.Address()
        place.address?.full = "1 Main Street"
        before.card.place = place
        let plan = try Registrations.plan(
            [try Registrations.desired("a", said)], [try Registrations.created("a", before, id: "1")],
            [Registrations.remote("a", before, id: "1")])
        guard case .update("1", let changes, let sent)? = plan.step("a") else {
            Issue.record("no update: \(plan.rows)")
            return
        }
        #expect(changes.map(\.path) == ["texts.EN.title"])
        var expected = before
        expected.card.texts[.english] = try CardText(title: "New", subtitle: "Here")
        #expect(sent == expected)
    }

    @Test func unsetPlaceMembersAreIgnored() throws {
        var desired = try Registrations.content()
        desired.card.place = Place()
        desired.card.place?.names = ["Pizza"]
        var remote = desired
        remote.card.place?.id = "I123"
        remote.card.place?.homePage = "https://example.com"
        let plan = try Registrations.plan(
            [try Registrations.desired("a", desired)], [try Registrations.created("a", desired, id: "1")],
            [Registrations.remote("a", remote, id: "1")])
        #expect(plan.step("a") == .inStep)
    }
}
