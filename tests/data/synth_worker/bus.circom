pragma circom 2.2.0;

// Inputs that are buses: their signals have qualified names.

bus Point() {
    signal x;
    signal y;
}

template Distance() {
    input Point() from;
    input Point() to[2];
    signal output out[2];

    for (var i = 0; i < 2; i++) {
        out[i] <== (from.x - to[i].x) * (from.y - 3 * to[i].y);
    }
}

component main = Distance();
