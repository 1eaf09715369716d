pragma circom 2.1.6;

// A circuit without inputs.

template Constant() {
    signal output out[2];
    out[0] <== 42;
    signal x <== out[0] * out[0];
    out[1] <== x * x;
}

component main = Constant();
