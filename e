INFO: Running with entropic power schedule (0xFF, 100).
INFO: Seed: 564588111
INFO: Loaded 1 modules   (39591 inline 8-bit counters): 39591 [0x559a468bfe90, 0x559a468c9937), 
INFO: Loaded 1 PC tables (39591 PCs): 39591 [0x559a468c9938,0x559a469643a8), 
fuzz/target/x86_64-unknown-linux-gnu/release/parser: Running 1 inputs 1 time(s) each.
Running: fuzz/corpus/parser/pascal_part.ltn
Executed fuzz/corpus/parser/pascal_part.ltn in 56 ms
***
*** NOTE: fuzzing was not performed, you have only
***       executed the target code on a fixed set of inputs.
***
0.20 fuzz/corpus/parser/pascal_part.ltn 1991
