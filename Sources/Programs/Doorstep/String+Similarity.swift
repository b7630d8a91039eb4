extension String {
    /// The candidate that differs least from this string; nil if each differs by more than `limit` edits.
    ///
    /// An edit inserts, deletes or replaces one byte of UTF-8 (Levenshtein distance).
    func mostSimilar(of candidates: [String], within limit: Int) -> String? {
        candidates.map { (name: $0, distance: distance(to: $0)) }
            .filter { $0.distance <= limit }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
    }

    private func distance(to other: String) -> Int {
        let other = Array(other.utf8)
        var row = Array(0...other.count)
        for (number, character) in utf8.enumerated() {
            var diagonal = row[0]
            row[0] = number + 1
            for column in other.indices {
                let replaced = diagonal + (other[column] == character ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[other.count]
    }
}
