#if canImport(CoreLocation)
    public import CoreLocation

    extension ClipLocation.Region {
        /// What `confirmAcquired(in:)` takes.
        public var circularRegion: CLCircularRegion {
            CLCircularRegion(
                center: CLLocationCoordinate2D(latitude: center.latitude, longitude: center.longitude),
                radius: radius, identifier: identifier)
        }
    }

    extension ClipLocation.Coordinate {
        /// With what the system says of where the fix comes from [documented: Apple, `CLLocationSourceInformation`].
        /// - Returns: Nil where the fix is none: its accuracy is below zero [documented].
        public init?(_ location: CLLocation) {
            guard location.horizontalAccuracy >= 0 else { return nil }
            self.init(
                latitude: location.coordinate.latitude, longitude: location.coordinate.longitude,
                horizontalAccuracy: location.horizontalAccuracy,
                simulated: location.sourceInformation?.isSimulatedBySoftware)
        }
    }
#endif
