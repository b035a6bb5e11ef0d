/// The one narrow door to the kernel.
///
/// Calls keep their C names, repeat themselves after `EINTR`, and throw ``Errno``. Paths are bytes without a NUL.
/// They may block on a disk: only the socket calls marked so are for an ``EventLoop``. Start reading at
/// `SystemCall.swift`, then ``EventLoop``.
package enum System {}
