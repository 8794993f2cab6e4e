//! After the first steps, a step asks for no memory. On its own, because the allocator is the whole program's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use logltn_nn::{
    Activation, AdamSettings, Network, NetworkSpec, Optimizer, lenet, mlp, sum_of_squares,
};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(spec: &NetworkSpec, rows: usize) -> usize {
    let mut network = Network::new(spec, 1).expect("a possible network");
    let length = network.parameters().len();
    let mut adam = Optimizer::adam(AdamSettings::default(), length);
    let mut sgd = Optimizer::sgd(0.9, length);
    let input = vec![0.5; rows * network.input_shape().len()];
    let by_output = vec![0.1; rows * network.output_shape().len()];
    let mut by_input = vec![0.0; input.len()];
    let mut step = |rows: usize| {
        let input = &input[..rows * network.input_shape().len()];
        network.forward_only(input, rows);
        network.forward(input, rows);
        network.zero_gradients();
        let by_output = &by_output[..rows * network.output_shape().len()];
        network.backward(by_output, Some(&mut by_input[..input.len()]));
        std::hint::black_box(sum_of_squares(network.gradients()));
        let (parameters, gradients) = network.parameters_and_gradients();
        adam.step(1e-3, parameters, gradients);
        sgd.step(1e-3, parameters, gradients);
    };
    for _ in 0..3 {
        step(rows);
    }
    let before = COUNT.load(Ordering::Relaxed);
    for _ in 0..50 {
        step(rows);
        step(rows / 2);
    }
    COUNT.load(Ordering::Relaxed) - before
}

#[test]
fn no_allocation_after_the_first_steps() {
    // From within a pool: asking one from outside takes a little memory now and then, for its queue.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    pool.expect("threads").install(|| {
        assert_eq!(count(&lenet(10), 40), 0);
        assert_eq!(
            count(&mlp(300, &[200, 100], 7, Activation::Sigmoid), 200),
            0
        );
    });
}
