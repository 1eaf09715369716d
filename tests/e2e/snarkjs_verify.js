// Verifies proofs with snarkjs: prints one line of JSON, an array of true and false.
//
// Usage: node snarkjs_verify.js NODE_MODULES (VKEY PUBLIC PROOF)...
const fs = require("fs");
const path = require("path");

const [modules, ...files] = process.argv.slice(2);
const snarkjs = require(path.join(modules, "snarkjs"));
const read = (file) => JSON.parse(fs.readFileSync(file, "utf8"));

async function main() {
  const verdicts = [];
  for (let i = 0; i + 2 < files.length; i += 3) {
    verdicts.push(await snarkjs.groth16.verify(read(files[i]), read(files[i + 1]), read(files[i + 2])));
  }
  console.log(JSON.stringify(verdicts));
  process.exit(0);
}

main().catch((error) => { console.error(String(error)); process.exit(1); });
