import ServiceWire
import Testing

@Suite("Places are where the environment says")
struct PlacesTests {
    private func places(_ environment: [String: String]) throws(PlacesError) -> Places {
        try Places(environment: environment, currentDirectory: "/now")
    }

    @Test("without XDG variables the standard directories below HOME are used")
    func standard() throws {
        let places = try places(["HOME": "/home/u/"])
        #expect(places.configurationFile == "/home/u/.config/martlet/martlet.conf")
        #expect(places.queueFile == "/home/u/.local/state/martlet/queue.sqlite")
        #expect(places.socketFile == "/home/u/.local/state/martlet/run/control.sock")
        #expect(places.environment == ["XDG_CONFIG_HOME": "/home/u/.config", "XDG_STATE_HOME": "/home/u/.local/state"])
    }

    @Test("XDG variables count when they are absolute; empty and relative ones do not")
    func xdg() throws {
        let places = try places(["HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "rel"])
        #expect(places.keysFile == "/c/martlet/keys.conf")
        #expect(places.lockFile == "/h/.local/state/martlet/queue.lock")
        #expect(try self.places(["HOME": "/h", "XDG_STATE_HOME": ""]).stateDirectory == "/h/.local/state/martlet")
    }

    @Test("MARTLET_HOME holds both, is made absolute, and needs no HOME")
    func isolated() throws {
        let places = try places(["MARTLET_HOME": "sand/box/", "XDG_STATE_HOME": "/elsewhere"])
        #expect(places.configurationDirectory == "/now/sand/box/config")
        #expect(places.secretsFile == "/now/sand/box/state/secrets.sqlite")
        #expect(places.environment == ["MARTLET_HOME": "/now/sand/box"])
    }

    @Test("the environment given on resolves the same places, in any directory")
    func handedOn() throws {
        for environment in [["MARTLET_HOME": "x"], ["HOME": "/h", "XDG_STATE_HOME": "/s"]] {
            let places = try places(environment)
            #expect(try Places(environment: places.environment, currentDirectory: "/") == places)
        }
    }

    @Test("the engine is the sibling of the front unless MARTLET_ENGINE names another")
    func engine() throws {
        #expect(try places(["HOME": "/h"]).engineProgram(beside: "/usr/bin/martlet") == "/usr/bin/martletd")
        let other = try places(["HOME": "/h", "MARTLET_ENGINE": "build/martletd"])
        #expect(other.engineProgram(beside: "/usr/bin/martlet") == "/now/build/martletd")
    }

    @Test("without any home the message says which variable to set")
    func homeless() {
        #expect(throws: PlacesError.homeUnknown) { try places([:]) }
        #expect(PlacesError.homeUnknown.message.contains("HOME"))
    }
}
