// Times cuzk's daemon and snarkjs in turn, on the same files, and prints medians.
//
// "wall" is the whole command as a user waits for it: `cuzkctl prove` against a warm daemon, and
// `snarkjs groth16 prove`. "job" is what the daemon counts from submit to answer. Called by scripts/bench.
//
// Usage: node bench_peers.js ROOT [--runs N] [--circuits FOLDER]
const { spawn, spawnSync } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const [root, ...options] = process.argv.slice(2);
const option = (name, fallback) => {
  const at = options.indexOf(name);
  return at >= 0 ? options[at + 1] : fallback;
};
const runs = Number(option("--runs", 5));
const bin = path.join(root, "build/release/bin");
const modules = path.join(root, "build/js/node_modules");
const shared = path.join(root, "../shared/data/circom");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "cuzk-bench."));
const socket = path.join(work, "cuzk.sock");

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
const spread = (values) => ({
  median: median(values), min: Math.min(...values), max: Math.max(...values) });

function timed(command, args) {
  const start = process.hrtime.bigint();
  const done = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28 });
  const milliseconds = Number(process.hrtime.bigint() - start) / 1e6;
  if (done.status !== 0) {
    throw new Error(`${command} ${args.join(" ")} exited with ${done.status}:\n${done.stderr}`);
  }
  return { milliseconds, out: done.stdout };
}

const ctl = (...args) => timed(path.join(bin, "cuzkctl"), [...args, "--socket", socket]);

function snarkjs(zkey, wtns) {
  return timed("node", [path.join(modules, "snarkjs/build/cli.cjs"), "groth16", "prove", zkey, wtns,
    path.join(work, "peer-proof.json"), path.join(work, "peer-public.json")]).milliseconds;
}

// The memory and processor time of each worker, from /proc.
function processes() {
  const report = {};
  for (const worker of JSON.parse(ctl("status", "--json").out).workers) {
    const status = fs.readFileSync(`/proc/${worker.pid}/status`, "utf8");
    const field = (name) => Number((status.match(new RegExp(`${name}:\\s+(\\d+)`)) || [])[1] || 0);
    report[worker.name] = { peak_kib: field("VmHWM"), anonymous_kib: field("RssAnon"),
      file_kib: field("RssFile"), shared_kib: field("RssShmem"), cpu_ms: worker.cpu_ms };
  }
  return report;
}

// The circuits to time: name, key, witness, and how often.
function circuits() {
  const found = [];
  const add = (curve, name, folder, count) => {
    const zkey = path.join(folder, `${name}.zkey`);
    const wtns = path.join(folder, `${name}.wtns`);
    if (fs.existsSync(zkey) && fs.existsSync(wtns)) found.push({ curve, name, zkey, wtns, count });
  };
  const own = option("--circuits", null);
  const folders = own ? [own] : [shared, path.join(root, "build/bench/circuits")];
  const wanted = own ? null : ["mult2", "chain_1000", "merkle20", "chain_131000"];
  for (const folder of folders) {
    for (const curve of ["bn128", "bls12381"]) {
      const base = path.join(folder, curve);
      if (!fs.existsSync(base)) continue;
      for (const name of fs.readdirSync(base)) {
        if (wanted && !wanted.includes(name)) continue;
        add(curve, name, path.join(base, name), runs);
      }
    }
  }
  if (!own) {
    const example = path.join(root, "examples/membership");
    const wtns = path.join(work, "membership.wtns");
    timed("node", [path.join(modules, "snarkjs/build/cli.cjs"), "wtns", "calculate",
      path.join(example, "membership.wasm"), path.join(example, "input.json"), wtns]);
    found.push({ curve: "bn128", name: "membership", zkey: path.join(example, "membership.zkey"), wtns,
      count: runs });
  }
  return found;
}

async function main() {
  const log = fs.openSync(path.join(work, "supervisor.log"), "w");
  const daemon = spawn(path.join(bin, "cuzk-supervisor"),
    ["--socket", socket, "--state-dir", path.join(work, "state"), "--device", "cpu"],
    { stdio: ["ignore", log, log] });
  for (let i = 0; i < 100; i++) {
    if (spawnSync(path.join(bin, "cuzkctl"), ["status", "--socket", socket]).status === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  const rows = [];
  for (const { curve, name, zkey, wtns, count } of circuits()) {
    const prove = () => ctl("prove", "--zkey", zkey, "--wtns", wtns, "--json");
    const first = prove().milliseconds;  // converts the key
    prove();
    const wall = [];
    const peer = [];
    const stages = {};
    for (let i = 0; i < count; i++) {
      const mine = prove();
      wall.push(mine.milliseconds);
      for (const { step, microseconds } of JSON.parse(mine.out).stages) {
        (stages[step] = stages[step] || []).push(microseconds / 1000);
      }
      peer.push(snarkjs(zkey, wtns));
    }
    // Small jobs again without the peer between them: the daemon's own cost.
    if (name === "mult2") for (let i = 0; i < 50; i++) {
      const mine = prove();
      wall.push(mine.milliseconds);
      for (const { step, microseconds } of JSON.parse(mine.out).stages) stages[step].push(microseconds / 1000);
    }
    const row = { curve, name, first_ms: first, wall_ms: spread(wall), snarkjs_ms: spread(peer),
      ratio: median(peer) / median(wall),
      stages_ms: Object.fromEntries(Object.entries(stages).map(([k, v]) => [k, median(v)])),
      processes: processes() };
    rows.push(row);
    console.log(`${curve.padEnd(9)} ${name.padEnd(14)} cuzk ${row.wall_ms.median.toFixed(1).padStart(9)} ms` +
      `   snarkjs ${row.snarkjs_ms.median.toFixed(1).padStart(9)} ms   ${row.ratio.toFixed(1)} times`);
    console.log("   stages (ms): " + Object.entries(row.stages_ms)
      .map(([k, v]) => `${k} ${v.toFixed(2)}`).join(", "));
  }
  console.log("\nprocesses at the end:");
  for (const [name, p] of Object.entries(rows[rows.length - 1].processes)) {
    console.log(`   ${name.padEnd(8)} peak ${(p.peak_kib / 1024).toFixed(0)} MiB, now anonymous ` +
      `${(p.anonymous_kib / 1024).toFixed(0)}, file ${(p.file_kib / 1024).toFixed(0)}, shared ` +
      `${(p.shared_kib / 1024).toFixed(0)}; CPU ${(p.cpu_ms / 1000).toFixed(1)} s`);
  }
  daemon.kill("SIGTERM");
  await new Promise((resolve) => daemon.on("exit", resolve));
  const report = { machine: { cpu: os.cpus()[0].model, cores: os.cpus().length }, runs, rows };
  fs.writeFileSync(path.join(root, "build/bench/peers.json"), JSON.stringify(report, null, 1));
  fs.rmSync(work, { recursive: true, force: true });
}

main().catch((error) => { console.error(String(error)); process.exit(1); });
