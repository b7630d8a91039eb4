import Administration
import PropertyTesting
import Testing

@Suite struct ImportProblemsTests {
    @Test func problemListStartsEmpty() {
        #expect(ImportProblems().isEmpty)
        #expect(ImportProblems().first.isEmpty)
    }

    @Test func firstHundredProblemsAreKeptAndAllAreCounted() {
        var problems = ImportProblems()
        for line in 2...151 { problems.add(line: line, "reason \(line)") }
        #expect(problems.count == 150)
        #expect(problems.first.map(\.line) == Array(2...101))
        #expect(problems.first.allSatisfy { $0.reason == "reason \($0.line)" })
    }

    @Test func firstFoundProblemsOfOneLineAreKept() {
        var problems = ImportProblems()
        for number in 1...102 { problems.add(line: 7, "\(number)") }
        #expect(problems.count == 102)
        #expect(problems.first.map(\.reason) == (1...100).map(String.init))
    }

    @Test func problemsOfOneLineKeepTheirOrder() {
        var problems = ImportProblems()
        for (line, reason) in [(5, "a"), (3, "b"), (5, "c"), (3, "d"), (4, "e")] {
            problems.add(line: line, reason)
        }
        #expect(problems.first.map(\.reason) == ["b", "d", "e", "a", "c"])
    }

    @Test func mergedProblemsAreOneOrderedList() {
        var (first, second) = (ImportProblems(), ImportProblems())
        for line in 1...150 { first.add(line: 2 * line, "even") }
        for line in 1...150 { second.add(line: 2 * line - 1, "odd") }
        first.add(second)
        #expect(first.count == 300)
        #expect(first.first.map(\.line) == Array(1...100))
    }

    /// Some problems are found while the file is read, others in the database.
    @Test func problemsOfFirstLinesAreKeptInAnyInputOrder() {
        var random = SplitMix64(seed: 11)
        for _ in 0..<200 {
            let lines = (0..<random.below(300)).map { _ in random.below(400) }
            var problems = ImportProblems()
            for line in lines { problems.add(line: line, "") }
            #expect(problems.count == lines.count)
            #expect(problems.first.map(\.line) == Array(lines.sorted().prefix(ImportProblems.limit)))
        }
    }
}
