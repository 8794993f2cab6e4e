//! Small fast neural networks on the CPU.
