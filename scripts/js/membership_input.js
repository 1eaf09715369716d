// Writes an input for examples/membership: a member's secret, a path, and the root that belongs to it.
//
// The root is not computed with a Poseidon of ours: a helper circuit over circomlib's Poseidon, compiled
// by circom2 and run by its own JavaScript, hashes one pair at a time.
//
// Usage: node membership_input.js NODE_MODULES WORK_FOLDER OUTPUT
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");

const [modules, work, output] = process.argv.slice(2);
const kDepth = 8;

fs.writeFileSync(path.join(work, "pair.circom"), `pragma circom 2.1.0;
include "circomlib/circuits/poseidon.circom";
template Pair() {
    signal input a; signal input b; signal output one; signal output two;
    component h1 = Poseidon(1); h1.inputs[0] <== a; one <== h1.out;
    component h2 = Poseidon(2); h2.inputs[0] <== a; h2.inputs[1] <== b; two <== h2.out;
}
component main = Pair();
`);
execFileSync("node", [path.join(modules, "circom2/cli.js"), "pair.circom", "--wasm", "-l", ".",
  "-o", "."], { cwd: work });
const calculator = require(path.join(work, "pair_js/witness_calculator.js"));

async function main() {
  const pair = await calculator(fs.readFileSync(path.join(work, "pair_js/pair.wasm")));
  const hash = async (a, b) => {
    const witness = await pair.calculateWitness({ a, b }, true);
    return { one: witness[1], two: witness[2] };
  };
  const secret = 20261201n;
  const siblings = [];
  const isRight = [];
  let node = (await hash(secret, 0n)).one;
  for (let i = 0; i < kDepth; i++) {
    const sibling = (await hash(BigInt(1000 + i), 0n)).one;
    const right = (0b10110010 >> i) & 1;
    siblings.push(sibling.toString());
    isRight.push(right);
    node = (right ? await hash(sibling, node) : await hash(node, sibling)).two;
  }
  const input = {
    root: node.toString(),
    external_nullifier: "42",
    secret: secret.toString(),
    siblings,
    is_right: isRight,
  };
  fs.writeFileSync(output, JSON.stringify(input, null, 1) + "\n");
}

main();
