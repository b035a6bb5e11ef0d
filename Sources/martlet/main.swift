print("martlet is not built yet")
