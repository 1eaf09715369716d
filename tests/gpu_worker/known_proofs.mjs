// Computes Groth16 proofs with given r and s, slowly and independently: big integers, naive polynomial
// arithmetic, and the points of @noble/curves. The results are tests/data/groth16/known_proofs.json.
//
// Usage: node known_proofs.mjs NODE_MODULES CIRCUIT_FOLDER > known_proofs.json
// where CIRCUIT_FOLDER holds <curve>/<circuit>/<circuit>.zkey and .wtns.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, circuits] = process.argv.slice(2);
const noble = (name) => import(pathToFileURL(join(modules, "@noble/curves", name)).href);
const { bn254 } = await noble("bn254.js");
const { bls12_381 } = await noble("bls12-381.js");
const curves = { bn128: { lib: bn254, s: 28n }, bls12381: { lib: bls12_381, s: 32n } };

const littleEndian = (bytes) => BigInt("0x" + Buffer.from(bytes).reverse().toString("hex") || "0x0");
const mod = (a, p) => ((a % p) + p) % p;
function power(base, exponent, p) {
  let result = 1n;
  for (base = mod(base, p); exponent > 0n; exponent >>= 1n, base = (base * base) % p)
    if (exponent & 1n) result = (result * base) % p;
  return result;
}
const inverse = (a, p) => power(a, p - 2n, p);

function sections(path) {
  const file = readFileSync(path);
  const found = new Map();
  for (let at = 12, i = file.readUInt32LE(8); i > 0; i--) {
    const size = Number(file.readBigUInt64LE(at + 4));
    found.set(file.readUInt32LE(at), file.subarray(at + 12, at + 12 + size));
    at += 12 + size;
  }
  return found;
}

function readKey(path, curve) {
  const { lib } = curves[curve];
  const G1 = lib.G1.Point ?? lib.G1.ProjectivePoint, G2 = lib.G2.Point ?? lib.G2.ProjectivePoint;
  const part = sections(path);
  const header = part.get(2);
  const n8q = header.readUInt32LE(0);
  const q = littleEndian(header.subarray(4, 4 + n8q));
  let at = 4 + n8q;
  const n8r = header.readUInt32LE(at);
  const r = littleEndian(header.subarray(at + 4, at + 4 + n8r));
  at += 4 + n8r;
  const [nVars, nPublic, n] = [0, 4, 8].map((o) => header.readUInt32LE(at + o));
  at += 12;
  const fromMontgomery = inverse(1n << BigInt(8 * n8q), q);
  const coordinate = (b, i) => (littleEndian(b.subarray(i * n8q, (i + 1) * n8q)) * fromMontgomery) % q;
  const g1 = (b) => {
    const [x, y] = [coordinate(b, 0), coordinate(b, 1)];
    return x === 0n && y === 0n ? G1.ZERO : G1.fromAffine({ x, y });
  };
  const g2 = (b) => {
    const [a0, a1, b0, b1] = [0, 1, 2, 3].map((i) => coordinate(b, i));
    return a0 === 0n && a1 === 0n && b0 === 0n && b1 === 0n ? G2.ZERO
      : G2.fromAffine({ x: { c0: a0, c1: a1 }, y: { c0: b0, c1: b1 } });
  };
  const list = (id, point, size) => Array.from({ length: part.get(id).length / size },
    (_, i) => point(part.get(id).subarray(i * size, (i + 1) * size)));
  const take = (point, size) => point(header.subarray(at, (at += size)));
  const s1 = 2 * n8q, s2 = 4 * n8q;
  const fixed = { alpha1: take(g1, s1), beta1: take(g1, s1), beta2: take(g2, s2), gamma2: take(g2, s2),
    delta1: take(g1, s1), delta2: take(g2, s2) };
  const fromR2 = inverse(1n << 512n, r);
  const coefficients = [];
  for (let b = part.get(4).subarray(4); b.length > 0; b = b.subarray(12 + n8r))
    coefficients.push({ matrix: b.readUInt32LE(0), row: b.readUInt32LE(4), signal: b.readUInt32LE(8),
      value: (littleEndian(b.subarray(12, 12 + n8r)) * fromR2) % r });
  return { G1, G2, r, nVars, nPublic, n, coefficients, ...fixed, a: list(5, g1, s1), b1: list(6, g1, s1),
    b2: list(7, g2, s2), c: list(8, g1, s1), h: list(9, g1, s1) };
}

// Value at x of the polynomial that takes values[i] at root^i: Lagrange's formula.
function interpolate(values, root, x, r) {
  const n = values.length;
  let sum = 0n;
  for (let i = 0; i < n; i++) {
    const xi = power(root, BigInt(i), r);
    let [top, bottom] = [1n, 1n];
    for (let j = 0; j < n; j++) {
      if (j === i) continue;
      const xj = power(root, BigInt(j), r);
      top = (top * mod(x - xj, r)) % r;
      bottom = (bottom * mod(xi - xj, r)) % r;
    }
    sum = (sum + values[i] * top * inverse(bottom, r)) % r;
  }
  return sum;
}

function prove(key, witness, rBlind, sBlind, s) {
  const { G1, G2, r, n } = key;
  const rows = [new Array(n).fill(0n), new Array(n).fill(0n)];
  for (const { matrix, row, signal, value } of key.coefficients)
    rows[matrix][row] = (rows[matrix][row] + value * witness[signal]) % r;
  const products = rows[0].map((a, i) => (a * rows[1][i]) % r);
  // w[k] = (5^t)^(2^(s-k)); the odd coset are the odd powers of the 2n-th root.
  const t = (r - 1n) >> s;
  const k = BigInt(Math.log2(n));
  const rootOf = (log) => power(power(5n, t, r), 1n << (s - log), r);
  const [w, W] = [rootOf(k), rootOf(k + 1n)];
  const quotient = Array.from({ length: n }, (_, i) => {
    const x = power(W, BigInt(2 * i + 1), r);
    const [a, b, c] = [rows[0], rows[1], products].map((v) => interpolate(v, w, x, r));
    return mod(a * b - c, r);
  });
  const times = (point, scalar) => (scalar === 0n ? point.constructor.ZERO : point.multiplyUnsafe(scalar));
  const sum = (Group, points, scalars) =>
    points.reduce((total, point, i) => total.add(times(point, scalars[i])), Group.ZERO);
  const A = key.alpha1.add(sum(G1, key.a, witness)).add(times(key.delta1, rBlind));
  const B = key.beta2.add(sum(G2, key.b2, witness)).add(times(key.delta2, sBlind));
  const B1 = key.beta1.add(sum(G1, key.b1, witness)).add(times(key.delta1, sBlind));
  const C = sum(G1, key.c, witness.slice(key.nPublic + 1)).add(sum(G1, key.h, quotient))
    .add(times(A, sBlind)).add(times(B1, rBlind)).add(times(key.delta1, mod(-rBlind * sBlind, r)));
  const [a, b, c] = [A.toAffine(), B.toAffine(), C.toAffine()];
  return [a.x, a.y, b.x.c0, b.x.c1, b.y.c0, b.y.c1, c.x, c.y].map(String);
}

const answers = [];
for (const curve of ["bn128", "bls12381"]) {
  for (const circuit of ["mult2", "mult2_ceremony", "edge_add2", "edge_nopublic", "edge_allpublic"]) {
    const folder = join(circuits, curve, circuit);
    const key = readKey(join(folder, circuit + ".zkey"), curve);
    const values = sections(join(folder, circuit + ".wtns")).get(2);
    const witness = Array.from({ length: values.length / 32 }, (_, i) =>
      littleEndian(values.subarray(32 * i, 32 * i + 32)));
    for (const [r, s] of [[1n, 1n], [0n, 0n], [key.r - 2n, (key.r - 1n) / 3n],
      [0x1234567890abcdef1234567890abcdefn ** 2n % key.r, 0xfedcba0987654321fedcba0987654321n ** 2n % key.r]])
      answers.push({ curve, circuit, r: String(r), s: String(s),
        proof: prove(key, witness, r, s, curves[curve].s) });
  }
}
console.log(JSON.stringify(answers, null, 1));
