print("martlet-receive is not built yet")
