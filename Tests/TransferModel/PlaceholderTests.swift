import Testing

@Test func theHouseStands() {}
