pragma circom 2.1.6;

// Inputs of several shapes, summed with weights that tell every position from every other, an assertion
// inside a component, and a log() of a secret value.

template Square() {
    signal input x;
    signal output y;
    assert(x != 7);
    y <== x * x;
}

template Shapes(rows, columns, length) {
    signal input a;
    signal input b[rows][columns];
    signal input c[length];
    signal output out;

    component square = Square();
    square.x <== a;
    log("a is", a);
    var sum = square.y;
    var weight = 10;
    for (var i = 0; i < rows; i++) {
        for (var j = 0; j < columns; j++) {
            sum += weight * b[i][j];
            weight *= 10;
        }
    }
    for (var i = 0; i < length; i++) {
        sum += weight * c[i];
        weight *= 10;
    }
    out <== sum * a;
}

component main {public [a]} = Shapes(2, 3, 2);
