/// The figure of the Earth that GPS and Core Location use.
///
/// Source: NGA.STND.0036, "Department of Defense World Geodetic System 1984", table 3.1. In metres.
enum WGS84 {
    static let equatorialRadius = 6_378_137.0
    static let flattening = 1 / 298.257_223_563
    static let polarRadius = equatorialRadius * (1 - flattening)
    static let meanRadius = (2 * equatorialRadius + polarRadius) / 3
    /// (a² − b²) / a²
    static let eccentricitySquared = flattening * (2 - flattening)
    /// (a² − b²) / b²
    static let secondEccentricitySquared = eccentricitySquared / (1 - eccentricitySquared)
}
