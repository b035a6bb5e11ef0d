import MartletKit
import Testing

@Suite("What logging out does to the engine")
struct LogoutEffectTests {
    private func effect(_ cgroup: String, lingers: Bool = false, kills: Bool = false) -> LogoutEffect {
        LogoutEffect(cgroup: cgroup, lingers: lingers, killsProcesses: kills)
    }

    @Test("under the user's service manager it ends with the last login, unless lingering is on")
    func manager() {
        let cgroup = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn.scope\n"
        #expect(effect(cgroup) == .endsWithoutLingering)
        #expect(effect(cgroup, lingers: true) == .none)
    }

    @Test("in a login of its own it ends only where logind kills what belongs to one")
    func session() {
        let cgroup = "1:name=systemd:/user.slice/user-1000.slice/session-3.scope\n0::/\n"
        #expect(effect(cgroup) == .none)
        #expect(effect(cgroup, lingers: true, kills: true) == .endsWithSession)
        #expect(effect("0::/\n", kills: true) == .none)
    }

    @Test("the last of logind's files that speaks of it counts")
    func files() {
        let (on, off) = (Array("[Login]\nKillUserProcesses=yes\n".utf8), Array("[Login]\nKillUserProcesses=no\n".utf8))
        #expect(!LogoutEffect.killsProcesses([]))
        #expect(LogoutEffect.killsProcesses([off, on, Array("[Login]\n#KillUserProcesses=no\n".utf8)]))
        #expect(!LogoutEffect.killsProcesses([on, off]))
    }
}
