// Writes tests/data/math: answers of @noble/curves for fields, points, subgroups and pairings.
//
// Operands come from a fixed counter through SHA-256, so the files are the same each time. Numbers are
// hexadecimal without prefix; Fp2 is [c0, c1]; infinity is null.
//
// Usage: node math_vectors.js NODE_MODULES OUTPUT_FOLDER
const { createHash } = require("crypto");
const fs = require("fs");
const path = require("path");

const [modules, output] = process.argv.slice(2).map((argument) => path.resolve(argument));
const { bls12_381 } = require(path.join(modules, "@noble/curves/bls12-381.js"));
const { bn254 } = require(path.join(modules, "@noble/curves/bn254.js"));

let counter = 0;
function random(modulus) {
  let value = 0n;
  for (let i = 0; i < 3; i++) {
    const hash = createHash("sha256").update(`cuzk ${counter++}`).digest("hex");
    value = (value << 256n) | BigInt("0x" + hash);
  }
  return value % modulus;
}
const hex = (value) => value.toString(16);
const hex2 = ({ c0, c1 }) => [hex(c0), hex(c1)];
const flatten12 = ({ c0, c1 }) => [c0.c0, c0.c1, c0.c2, c1.c0, c1.c1, c1.c2].map(hex2);

function fieldVectors(Fp) {
  const rows = [];
  const special = [0n, 1n, 2n, Fp.ORDER - 1n, Fp.ORDER - 2n, Fp.ORDER >> 1n];
  for (let i = 0; i < 40; i++) {
    const a = i < special.length ? special[i] : random(Fp.ORDER);
    const b = i % 7 === 3 ? special[i % special.length] : random(Fp.ORDER);
    rows.push({ a: hex(a), b: hex(b), sum: hex(Fp.add(a, b)), difference: hex(Fp.sub(a, b)),
      product: hex(Fp.mul(a, b)), square: hex(Fp.sqr(a)), negative: hex(Fp.neg(a)),
      inverse: a === 0n ? "0" : hex(Fp.inv(a)), power: hex(Fp.pow(a, 65537n)) });
  }
  return rows;
}

function extensionVectors(curve) {
  const { Fp, Fp2, Fp6, Fp12 } = curve.fields;
  const r2 = () => Fp2.create({ c0: random(Fp.ORDER), c1: random(Fp.ORDER) });
  const r6 = () => Fp6.create({ c0: r2(), c1: r2(), c2: r2() });
  const r12 = () => Fp12.create({ c0: r6(), c1: r6() });
  const rows = { fp2: [], fp12: [] };
  for (let i = 0; i < 12; i++) {
    const a = r2();
    const b = r2();
    rows.fp2.push({ a: hex2(a), b: hex2(b), product: hex2(Fp2.mul(a, b)), square: hex2(Fp2.sqr(a)),
      inverse: hex2(Fp2.inv(a)) });
  }
  for (let i = 0; i < 6; i++) {
    const a = r12();
    const b = r12();
    rows.fp12.push({ a: flatten12(a), b: flatten12(b), product: flatten12(Fp12.mul(a, b)),
      square: flatten12(Fp12.sqr(a)), inverse: flatten12(Fp12.inv(a)),
      frobenius: flatten12(Fp12.frobeniusMap(a, 1)) });
  }
  return rows;
}

function groupVectors(Point, encode, r) {
  const point = (p) => (p.equals(Point.ZERO) ? null
    : { x: encode(p.toAffine().x), y: encode(p.toAffine().y) });
  const rows = [];
  const scalars = [1n, 2n, 3n, r - 1n];
  for (let i = 0; i < 16; i++) {
    const a = i < scalars.length ? scalars[i] : random(r - 1n) + 1n;
    const b = i === 4 ? r - a : i === 5 ? a : random(r - 1n) + 1n;
    const p = Point.BASE.multiply(a);
    const q = i === 4 ? p.negate() : i === 5 ? p : Point.BASE.multiply(b);
    rows.push({ a: hex(a), p: point(p), q: point(q), sum: point(p.add(q)), twice: point(p.double()) });
  }
  return rows;
}

// Points on the curve y^2 = x^3 + b whose order is not r.
function strangers(Point, Field, candidates, b, encode) {
  const rows = [];
  for (const x of candidates) {
    const square = Field.add(Field.mul(Field.sqr(x), x), b);
    let y;
    try { y = Field.sqrt(square); } catch { continue; }
    const p = Point.fromAffine({ x, y });
    if (p.isTorsionFree()) continue;
    rows.push({ x: encode(x), y: encode(y) });
    if (rows.length === 6) break;
  }
  return rows;
}

function curveVectors(curve) {
  const { Fp, Fp2, Fr } = curve.fields;
  const G1 = curve.G1.Point ?? curve.G1.ProjectivePoint;
  const G2 = curve.G2.Point ?? curve.G2.ProjectivePoint;
  const numbers = Array.from({ length: 60 }, (_, i) => BigInt(i + 1));
  const pairings = [];
  for (let i = 0; i < 3; i++) {
    const a = i === 0 ? 1n : random(Fr.ORDER - 1n) + 1n;
    const b = i === 0 ? 1n : random(Fr.ORDER - 1n) + 1n;
    pairings.push({ a: hex(a), b: hex(b),
      e: flatten12(curve.pairing(G1.BASE.multiply(a), G2.BASE.multiply(b))) });
  }
  return {
    fq: fieldVectors(Fp), fr: fieldVectors(Fr), extensions: extensionVectors(curve),
    g1: groupVectors(G1, hex, Fr.ORDER), g2: groupVectors(G2, hex2, Fr.ORDER),
    g1_strangers: curve === bn254 ? [] : strangers(G1, Fp, numbers, 4n, hex),
    g2_strangers: strangers(G2, Fp2, numbers.map((n) => Fp2.create({ c0: n, c1: 3n * n })),
      curve === bn254 ? Fp2.mul(Fp2.create({ c0: 3n, c1: 0n }), Fp2.inv(Fp2.create({ c0: 9n, c1: 1n })))
        : Fp2.create({ c0: 4n, c1: 4n }), hex2),
    pairings,
  };
}

fs.mkdirSync(output, { recursive: true });
for (const [name, curve] of [["bn254", bn254], ["bls12_381", bls12_381]]) {
  fs.writeFileSync(path.join(output, `${name}.json`), JSON.stringify(curveVectors(curve), null, 0) + "\n");
}
