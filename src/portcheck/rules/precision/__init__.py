"""PC3xx: number formats, from load to store."""
