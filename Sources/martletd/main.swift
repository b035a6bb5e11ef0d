print("martletd is not built yet")
