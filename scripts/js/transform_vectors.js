// Answers of others for common/msm and common/ntt, written as JSON into the folder given as argument.
//
// The inputs follow rules that the tests repeat, so that only answers are stored. Scalars: s_0 = 1,
// s_(i+1) = s_i * 6364136223846793005 + 1 mod r. Points: P_i = (i + 1) * generator.
const fs = require("fs");
const path = require("path");
const { bn254 } = require("@noble/curves/bn254");
const { bls12_381 } = require("@noble/curves/bls12-381");
const { buildBn128, buildBls12381 } = require("ffjavascript");

const MULTIPLIER = 6364136223846793005n;
const hex = (value) => "0x" + value.toString(16);

function scalars(count, order) {
  const list = [];
  for (let s = 1n; list.length < count; s = (s * MULTIPLIER + 1n) % order) list.push(s);
  return list;
}

// noble's own Pippenger for the short ones; for all, the sum of discrete logarithms times the generator.
function multiplication(group, order, count) {
  const points = [];
  for (let i = 0, p = group.BASE; i < count; i++, p = p.add(group.BASE)) points.push(p);
  const list = scalars(count, order);
  const logarithm = list.reduce((sum, s, i) => (sum + s * BigInt(i + 1)) % order, 0n);
  const answer = group.BASE.multiply(logarithm);
  if (count <= 300 && !group.msm(points, list).equals(answer)) throw new Error("noble disagrees with itself");
  const { x, y } = answer.toAffine();
  const coordinates = (c) => (typeof c === "bigint" ? [hex(c)] : [hex(c.c0), hex(c.c1)]);
  return { count, x: coordinates(x), y: coordinates(y) };
}

function multiplications() {
  const answers = {};
  for (const [name, curve] of [["bn128", bn254], ["bls12381", bls12_381]]) {
    const order = curve.fields.Fr.ORDER;
    for (const [group, points] of [["G1", curve.G1], ["G2", curve.G2]]) {
      answers[`${name}.${group}`] = [1, 2, 3, 33, 300, 4100].map((count) =>
        multiplication(points.ProjectivePoint ?? points.Point, order, count));
    }
  }
  return answers;
}

// What snarkjs' groth16 prove does to each of its three vectors, and the halves of it.
async function transforms() {
  const answers = {};
  for (const [name, build] of [["bn128", buildBn128], ["bls12381", buildBls12381]]) {
    const curve = await build(true);
    const { Fr } = curve;
    const text = (list) => Array.from(list, (e) => hex(Fr.toObject(e)));
    answers[name] = [];
    for (let power = 0; power <= 6; power++) {
      const input = scalars(1 << power, Fr.p).map((s) => Fr.e(s));
      const coefficients = await Fr.ifft(input);
      const shifted = coefficients.map((c, i) => Fr.mul(c, Fr.exp(Fr.w[power + 1], i)));
      answers[name].push({
        root: hex(Fr.toObject(Fr.w[power])),
        forward: text(await Fr.fft(input)),
        inverse: text(coefficients),
        odd_coset: text(await Fr.fft(shifted)),
      });
    }
    await curve.terminate();
  }
  return answers;
}

async function main() {
  const write = (name, answers) =>
    fs.writeFileSync(path.join(process.argv[2], name), JSON.stringify(answers, null, 1) + "\n");
  write("msm.json", multiplications());
  write("ntt.json", await transforms());
}
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
