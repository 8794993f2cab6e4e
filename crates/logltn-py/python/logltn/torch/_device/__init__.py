"""The plan on other devices: torch operations in blocks for everything, Triton kernels for what is common."""
