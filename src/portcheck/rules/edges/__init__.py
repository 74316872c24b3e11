"""PC4xx: tails, guards and the domain of sizes."""
