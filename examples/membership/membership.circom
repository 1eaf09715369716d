// Membership in a set without saying which member: a Merkle path over Poseidon.
//
// The prover knows a secret and a path of siblings. The public signals are the tree's root, an external
// nullifier (what this proof is for, say a poll's number) and the nullifier that the circuit computes
// from both: two proofs of one member for the same purpose show the same nullifier, and nothing else
// about the member.
pragma circom 2.1.0;

include "circomlib/circuits/poseidon.circom";

// Hashes a node with its sibling, in the order that `is_right` says (1: the node is the right child).
template Level() {
    signal input node;
    signal input sibling;
    signal input is_right;
    signal output parent;

    is_right * (is_right - 1) === 0;
    // The one multiplication exchanges the two children or leaves them.
    signal difference <== (sibling - node) * is_right;

    component hash = Poseidon(2);
    hash.inputs[0] <== node + difference;
    hash.inputs[1] <== sibling - difference;
    parent <== hash.out;
}

template Membership(depth) {
    signal input root;
    signal input external_nullifier;
    signal input secret;
    signal input siblings[depth];
    signal input is_right[depth];
    signal output nullifier;

    component leaf = Poseidon(1);
    leaf.inputs[0] <== secret;

    component level[depth];
    for (var i = 0; i < depth; i++) {
        level[i] = Level();
        level[i].node <== i == 0 ? leaf.out : level[i - 1].parent;
        level[i].sibling <== siblings[i];
        level[i].is_right <== is_right[i];
    }
    root === level[depth - 1].parent;

    component purpose = Poseidon(2);
    purpose.inputs[0] <== secret;
    purpose.inputs[1] <== external_nullifier;
    nullifier <== purpose.out;
}

component main {public [root, external_nullifier]} = Membership(8);
